"""The running average of a network's weights, which answers better than the network itself."""

from copy import deepcopy

import torch
from torch import Tensor, nn

from gpgc_lab.image_networks.networks import FeatureNetwork


class WeightAverage(nn.Module):
    """Exponential average of a network's weights, with the mean of its own answers.

    With decay β the average after step t is θ̄ ← β_t θ̄ + (1 − β_t) θ, where
    β_t = min(β, (1 + t) / (10 + t)) forgets the first steps soon.

    Parameters
    ----------
    network : FeatureNetwork
    classes : int
    """

    answers: Tensor
    network: FeatureNetwork

    def __init__(self, network: FeatureNetwork, classes: int) -> None:
        super().__init__()
        self.network = deepcopy(network)
        self.network.eval().requires_grad_(False)
        self.register_buffer("answers", torch.full((classes,), 1 / classes))

    @torch.no_grad()
    def update(self, network: nn.Module, step: int, decay: float) -> None:
        """Move towards the weights of ``network`` after step ``step``."""
        weight = 1 - min(decay, (1 + step) / (10 + step))
        pairs = zip(self.network.state_dict().values(), network.state_dict().values(), strict=True)
        for mean, now in pairs:
            if mean.is_floating_point():
                mean.lerp_(now, weight)
            else:
                mean.copy_(now)

    @torch.no_grad()
    def pseudo_labels(self, images: Tensor, frequency: Tensor) -> tuple[Tensor, Tensor]:
        """Return class and probability for each image, aligned with a frequency of the classes.

        Parameters
        ----------
        images : Tensor of shape (batch, channels, side, side)
        frequency : Tensor of shape (classes,)
            What the classes' mean probability should be.
        """
        probabilities = self.network(images).float().softmax(dim=1)
        self.answers.lerp_(probabilities.mean(dim=0), 0.02)
        aligned = probabilities * (frequency / self.answers)
        sureness, classes = (aligned / aligned.sum(dim=1, keepdim=True)).max(dim=1)
        return classes, sureness
