"""Virtual adversarial training: a loss that asks for no labels."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

PROBE = 1.0
"""Length of the random step from which the power iteration starts, on standardised pixels.

A step of 1e-6, as first published, vanishes in the rounding of float32 and of bfloat16.
"""


def entropy(logits: Tensor) -> Tensor:
    """Mean over the batch of the entropy -Σ p log p of the predicted classes."""
    log_p = functional.log_softmax(logits, dim=1)
    return -(log_p.exp() * log_p).sum(dim=1).mean()


def divergence(logits: Tensor, perturbed: Tensor) -> Tensor:
    """Mean over the batch of KL(p ‖ q) of two predictions; only q carries gradients."""
    log_p = functional.log_softmax(logits.detach(), dim=1)
    return functional.kl_div(
        functional.log_softmax(perturbed, dim=1), log_p, reduction="batchmean", log_target=True
    )


def adversarial_direction(
    network: nn.Module, images: Tensor, logits: Tensor, epsilon: float
) -> Tensor:
    """Perturbation of norm ``epsilon`` to which each prediction is most sensitive.

    One power iteration on the Hessian of d ↦ KL(p(x) ‖ p(x + d)) at d = 0: the gradient at a
    random d of length :data:`PROBE`, scaled to length ε.

    Parameters
    ----------
    network : torch.nn.Module
        Maps images to logits.
    images : Tensor of shape (batch, channels, side, side)
    logits : Tensor of shape (batch, classes)
        The network's answer to ``images``.
    epsilon : float
        Euclidean norm of each image's perturbation.
    """
    probe = (PROBE * _unit(torch.randn_like(images))).requires_grad_()
    with _statistics_kept(network):
        answer = network(images + probe)
    (gradient,) = torch.autograd.grad(divergence(logits, answer), probe)
    return epsilon * _unit(gradient)


def adversarial_loss(network: nn.Module, images: Tensor, logits: Tensor, epsilon: float) -> Tensor:
    """KL(p(x) ‖ p(x + r)) at the adversarial direction r of norm ``epsilon``, batch mean."""
    perturbed = images + adversarial_direction(network, images, logits, epsilon)
    with _statistics_kept(network):
        answer = network(perturbed)
    return divergence(logits, answer)


def _unit(vectors: Tensor) -> Tensor:
    return functional.normalize(vectors.flatten(1), dim=1, eps=1e-30).view_as(vectors)


@contextmanager
def _statistics_kept(network: nn.Module) -> Iterator[None]:
    """Batch normalisation's running statistics stay those of unperturbed images."""
    layers = [
        layer for layer in network.modules() if isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d)
    ]
    momenta = [layer.momentum for layer in layers]
    for layer in layers:
        layer.momentum = 0.0
    try:
        yield
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
