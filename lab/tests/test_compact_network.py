"""The compact network, the average of its weights, and training with pseudo-labels."""

from dataclasses import asdict, replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gpgc.errors import InputError  # noqa: E402
from gpgc_lab.image_networks import (  # noqa: E402
    COMPACT,
    PseudoLabelSchedule,
    Schedule,
    checkpoint_features,
    checkpoint_schedule,
    train_features,
)
from gpgc_lab.image_networks.augmentation import Augmentation  # noqa: E402
from gpgc_lab.image_networks.compact_network import WIDTHS, CompactNetwork  # noqa: E402
from gpgc_lab.image_networks.networks import build_network  # noqa: E402
from gpgc_lab.image_networks.views import ImageViews, cut_out, recoloured  # noqa: E402
from gpgc_lab.image_networks.weight_average import WeightAverage  # noqa: E402

SCHEDULE = PseudoLabelSchedule(
    steps=6,
    warm_up=2,
    decay=3,
    labelled_batch=6,
    unlabelled_batch=8,
    threshold=0.1,
    flip=True,
    cutout=4,
    validate_every=2,
)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _task():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (30, 12, 12, 3)).astype(np.uint8)
    labels = np.full(30, -1)
    labels[:10] = np.arange(10) % 2
    return images, labels, (np.arange(10, 20), np.arange(10) % 2)


def _content(path):
    return torch.load(path, weights_only=True)


def _same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


def test_whitened_patches_have_unit_covariance():
    torch.manual_seed(0)
    images = torch.randn(50, 3, 9, 9)
    images[:, 1] += 2 * images[:, 0]
    network = CompactNetwork(3, classes=4)
    network.adapt(images)
    outputs = network.features[0](images)
    assert outputs.shape[1] == 24
    rows = outputs[:, :12].permute(0, 2, 3, 1).reshape(-1, 12)
    torch.testing.assert_close(torch.cov(rows.T), torch.eye(12), atol=5e-3, rtol=0)
    torch.testing.assert_close(outputs[:, 12:], -outputs[:, :12])


@pytest.mark.parametrize(("channels", "side"), [(1, 28), (3, 32), (3, 9)])
def test_shapes_and_frozen_first_layer(channels, side):
    network = build_network("compact", channels, classes=10).eval()
    images = torch.randn(2, channels, side, side)
    assert network.features(images).shape == (2, WIDTHS[-1])
    torch.testing.assert_close(network(images), network.classifier(network.features(images)))
    assert [p.requires_grad for p in network.parameters()].count(False) == 1


def test_unknown_network_is_refused():
    with pytest.raises(InputError, match="network must be one of conv-large, compact, got 'x'"):
        build_network("x", 3, 10)


def test_average_moves_by_its_formula():
    network = CompactNetwork(1, classes=2)
    average = WeightAverage(network, classes=2)
    before = average.network.classifier.weight.clone()
    with torch.no_grad():
        network.classifier.weight += 1
    average.update(network, step=10_000, decay=0.9)
    torch.testing.assert_close(average.network.classifier.weight, before + 0.1)


def test_pseudo_labels_favour_classes_that_are_answered_too_rarely():
    network = CompactNetwork(1, classes=2)
    average = WeightAverage(network, classes=2)
    with torch.no_grad():
        average.network.classifier.weight.zero_()
        average.network.classifier.bias.copy_(9 * torch.tensor([0.2, 0.0]))
    images = torch.randn(4, 1, 12, 12)
    classes, sureness = average.pseudo_labels(images, torch.tensor([0.5, 0.5]))
    assert (classes == 0).all()
    assert (sureness > 0.5).all()
    average.answers.copy_(torch.tensor([0.9, 0.1]))
    classes, _ = average.pseudo_labels(images, torch.tensor([0.5, 0.5]))
    assert (classes == 1).all()


def test_cut_out_removes_one_square_and_recolouring_is_affine():
    torch.manual_seed(0)
    images = torch.ones(20, 3, 12, 12)
    holes = (cut_out(images, 4) == 0).all(dim=1).sum(dim=(1, 2))
    assert holes.max() == 16
    assert holes.min() >= 4
    changed = recoloured(images, 0.3)
    assert changed.std(dim=(2, 3)).max() == 0
    assert 0.2 < (changed - 1).abs().max() < 0.3 + 0.3 + 0.15
    assert torch.equal(recoloured(images, 0.0), images)


@pytest.mark.parametrize("change", [{"colour": 1.0}, {"cutout": -1}, {"shift": -1}, {"zoom": 1.0}])
def test_impossible_augmentations_are_refused(change):
    with pytest.raises(InputError, match=next(iter(change))):
        Augmentation(**change)


@pytest.mark.parametrize("schedule", COMPACT.values())
def test_schedules_survive_their_dictionary_and_stretching(schedule):
    assert PseudoLabelSchedule.from_dict(asdict(schedule)) == schedule
    assert schedule.with_steps(schedule.steps) == schedule
    half = schedule.with_steps(schedule.steps // 2)
    assert half.total_work() == pytest.approx(schedule.total_work() / 2, rel=0.01)
    assert half.continues(schedule)
    assert not replace(schedule, seed=1).continues(schedule)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "whole.pt"
    reports = []
    made = train_features(*_task(), SCHEDULE, path, progress=reports.append)
    return made, path, reports


def test_unlabelled_images_count_after_the_warm_up(finished):
    made, _, reports = finished
    assert [report.losses["labelled_fraction"] > 0 for report in reports] == [False] * 2 + [
        True
    ] * 4
    assert made.features.shape == (30, WIDTHS[-1])
    assert made.provenance["method"] == "compact network, pseudo-labels"
    answers = made.probabilities[10:20].argmax(axis=1)
    assert np.mean(answers == np.arange(10) % 2) == pytest.approx(
        made.provenance["network_validation_accuracy"]
    )


def test_interrupted_run_ends_with_the_same_bits(finished, tmp_path):
    whole, path, _ = finished

    def stop(report):
        if report.step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_features(*_task(), SCHEDULE, tmp_path / "a.pt", progress=stop, checkpoint_seconds=0)
    resumed = train_features(*_task(), SCHEDULE, tmp_path / "a.pt")
    assert np.array_equal(whole.features, resumed.features)
    for part in ("network", "average"):
        assert _same(_content(path)[part], _content(tmp_path / "a.pt")[part])


def test_validation_labels_do_not_touch_the_weights(finished, tmp_path):
    _, path, _ = finished
    images, labels, (index, answers) = _task()
    train_features(images, labels, (index, 1 - answers), SCHEDULE, tmp_path / "a.pt")
    for part in ("network", "average"):
        assert _same(_content(path)[part], _content(tmp_path / "a.pt")[part])


def test_finished_run_can_be_prolonged(finished, tmp_path):
    _, path, _ = finished
    copy = tmp_path / "a.pt"
    copy.write_bytes(path.read_bytes())
    reports = []
    longer = SCHEDULE.with_steps(9)
    train_features(*_task(), longer, copy, progress=reports.append)
    assert [report.step for report in reports] == [7, 8, 9]
    assert checkpoint_schedule(copy) == longer
    made = checkpoint_features(_task()[0], copy)
    assert made.provenance["steps"] == 9
    assert made.provenance["earlier_schedules"] == [{"until": 6, **asdict(SCHEDULE)}]


def test_features_are_means_over_mirror_images(finished):
    made, path, _ = finished
    images = _task()[0]
    mirrored = checkpoint_features(np.ascontiguousarray(images[:, :, ::-1]), path)
    np.testing.assert_allclose(made.features, mirrored.features, atol=1e-3)


def test_the_compact_network_takes_adversarial_training_too(tmp_path):
    schedule = Schedule(
        steps=2, warm_up=1, ramp=0, small=0, decay=1, network="compact",
        warm_up_batch=4, labelled_batch=4, unlabelled_batch=4,
    )  # fmt: skip
    reports = []
    made = train_features(*_task(), schedule, tmp_path / "a.pt", progress=reports.append)
    assert reports[-1].losses["adversarial"] > 0
    assert made.provenance["method"] == "compact network, virtual adversarial training"


def test_views_reflect_at_the_border():
    images = np.zeros((1, 12, 12), np.uint8)
    images[:, :, :6] = 255
    views = ImageViews(images)
    torch.manual_seed(0)
    seen = views.augmented(torch.zeros(50, dtype=torch.int64), 12, Augmentation(shift=4))
    levels = views.plain(torch.zeros(1, dtype=torch.int64), 12).unique()
    assert (seen.unsqueeze(-1) - levels).abs().min(dim=-1).values.max() < 1e-3
