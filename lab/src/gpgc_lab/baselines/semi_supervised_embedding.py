r"""SemiEmb: a network whose hidden layer is an embedding that the graph holds together.

The embedding :math:`z = \tanh(W^{(1)} x + b)` feeds a linear classifier, whose loss is joined by

.. math:: \lambda \Big(\operatorname{mean}_{i \sim j} w_{ij} \|z_i - z_j\|^2
   + \operatorname{mean}_{i, k} \max(0, m - \|z_i - z_k\|)^2\Big)

over the edges and over as many pairs of nodes drawn at random in each epoch.

References
----------
Weston, Ratle, Mobahi and Collobert, *Deep learning via semi-supervised embedding* (2012).
"""

from __future__ import annotations

from typing import Any

import torch
from scipy.sparse import triu
from torch import Tensor, nn

from gpgc_lab.baselines.network_training import GraphNetwork, Patience, learn
from gpgc_lab.baselines.tensors import Inputs, glorot
from gpgc_lab.problem import Prediction, Problem

MARGIN = 1.0
"""Distance m beyond which nodes are no longer pushed apart."""
LEARNING_RATE = 0.01
WEIGHT_DECAY = 5e-4
"""Of the first layer alone."""


class Embedding(GraphNetwork):
    """Scores that are linear in an embedding of the features."""

    def __init__(self, problem: Problem, hidden: int, weight: float) -> None:
        super().__init__()
        self.inputs = Inputs(problem.features)
        self.first = glorot(self.inputs.n_features, hidden)
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.second = nn.Linear(hidden, problem.n_classes)
        edges = triu(problem.adjacency).tocoo()
        self.ends = torch.from_numpy(edges.row).long(), torch.from_numpy(edges.col).long()
        self.strengths = torch.from_numpy(edges.data).float()
        self.weight = weight
        self.embedded = torch.empty(0)

    def forward(self, nodes: Tensor) -> Tensor:
        """Return the scores of some nodes, and keep the embedding of all."""
        self.embedded = (self.inputs.times(self.first) + self.bias).tanh()
        scores: Tensor = self.second(self.embedded[nodes])
        return scores

    def penalty(self) -> Tensor | float:
        """Return the distance of neighbours and the closeness of random pairs in the embedding."""
        if not len(self.strengths):
            return 0.0
        first, second = (self.embedded[end] for end in self.ends)
        together = (self.strengths * (first - second).square().sum(dim=1)).sum()
        drawn = torch.randint(len(self.embedded), (2, len(self.strengths)))
        distance = nn.functional.pairwise_distance(*self.embedded[drawn])
        apart = (MARGIN - distance).relu().square().mean()
        return self.weight * (together / self.strengths.sum() + apart)


def run(
    problem: Problem, seed: int, *, hidden: int = 50, weight: float = 1.0, epochs: int = 300
) -> Prediction:
    """Train by Adam, at most 300 epochs; keep the weights of the least validation loss.

    Parameters
    ----------
    problem : Problem
        Graph and labels.
    seed : int
        Of the network's weights and of the random pairs.
    hidden : int
        Numbers of an embedding.
    weight : float
        λ.
    epochs : int
        How many at most.
    """

    def prepare() -> tuple[GraphNetwork, torch.optim.Optimizer]:
        network = Embedding(problem, hidden, weight)
        groups: list[dict[str, Any]] = [
            {"params": [network.first], "weight_decay": WEIGHT_DECAY},
            {"params": [network.bias, *network.second.parameters()]},
        ]
        return network, torch.optim.Adam(groups, lr=LEARNING_RATE)

    return learn(problem, seed, prepare, Patience(50), epochs)
