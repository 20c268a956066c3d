"""The network and its losses."""

import pytest

torch = pytest.importorskip("torch")

from gpgc_lab.image_networks.adversarial import (  # noqa: E402
    adversarial_direction,
    adversarial_loss,
    divergence,
    entropy,
)
from gpgc_lab.image_networks.conv_large import ConvLarge  # noqa: E402


@pytest.fixture
def seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


@pytest.mark.parametrize(("channels", "side"), [(1, 28), (3, 32), (1, 14), (3, 16)])
def test_takes_the_sizes_of_all_data_sets(channels, side):
    network = ConvLarge(channels, classes=10).eval()
    images = torch.zeros(2, channels, side, side)
    assert network.features(images).shape == (2, 128)
    assert network(images).shape == (2, 10)


def test_is_conv_large():
    network = ConvLarge(3, classes=10)
    convolutions = [layer for layer in network.features if isinstance(layer, torch.nn.Conv2d)]
    assert [layer.out_channels for layer in convolutions] == [128] * 3 + [256] * 3 + [512, 256, 128]
    assert [layer.kernel_size[0] for layer in convolutions] == [3] * 7 + [1, 1]
    assert [layer.padding[0] for layer in convolutions] == [1] * 6 + [0] * 3
    slopes = {m.negative_slope for m in network.features if isinstance(m, torch.nn.LeakyReLU)}
    assert slopes == {0.1}
    assert [m.p for m in network.features if isinstance(m, torch.nn.Dropout2d)] == [0.5, 0.5]


@pytest.mark.usefixtures("seeded")
def test_direction_has_norm_epsilon_and_beats_chance():
    network = ConvLarge(1, classes=3).eval()
    images = torch.randn(4, 1, 14, 14)
    logits = network(images)
    direction = adversarial_direction(network, images, logits, epsilon=2.5)
    torch.testing.assert_close(direction.flatten(1).norm(dim=1), torch.full((4,), 2.5))
    chance = torch.randn_like(images)
    chance *= 2.5 / chance.flatten(1).norm(dim=1).view(-1, 1, 1, 1)
    found = divergence(logits, network(images + direction))
    assert found > 2 * divergence(logits, network(images + chance))


@pytest.mark.usefixtures("seeded")
def test_adversarial_loss_is_non_negative_and_keeps_the_statistics():
    network = ConvLarge(1, classes=3).train()
    images = torch.randn(4, 1, 14, 14)
    logits = network(images)
    before = network.features[1].running_mean.clone()
    assert adversarial_loss(network, images, logits, epsilon=1.0) >= 0
    assert torch.equal(before, network.features[1].running_mean)
    network(images)
    assert not torch.equal(before, network.features[1].running_mean)


def test_entropy_and_divergence_of_known_distributions():
    p = torch.tensor([[0.5, 0.25, 0.25]])
    q = torch.tensor([[0.25, 0.5, 0.25]])
    assert entropy(p.log()).item() == pytest.approx(1.5 * torch.tensor(2.0).log().item())
    expected = (p * (p / q).log()).sum().item()
    assert divergence(p.log(), q.log()).item() == pytest.approx(expected)
    assert divergence(p.log(), p.log()).item() == pytest.approx(0, abs=1e-7)


def test_only_the_perturbed_answer_carries_gradients():
    clean = torch.randn(2, 3, requires_grad=True)
    perturbed = torch.randn(2, 3, requires_grad=True)
    divergence(clean, perturbed).backward()
    assert clean.grad is None
    assert perturbed.grad.abs().sum() > 0
