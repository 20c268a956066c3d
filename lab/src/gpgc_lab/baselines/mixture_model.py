"""MoNet: neighbours weighted by a mixture of Gaussians of the degrees at both ends.

Reference: F. Monti, D. Boscaini, J. Masci, E. Rodolà, J. Svoboda, M. Bronstein, *Geometric deep
learning on graphs and manifolds using mixture model CNNs*, 2017.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch_geometric.nn import GMMConv

from gpgc_lab.baselines.network_training import GraphNetwork, Patience, learn
from gpgc_lab.baselines.tensors import Inputs, edges_with_loops
from gpgc_lab.problem import Prediction, Problem

HIDDEN = 16
GAUSSIANS = 3
COORDINATES = 2
DROPOUT = 0.5
LEARNING_RATE = 0.01
WEIGHT_DECAY = 5e-3
"""Of the weights of features in the first layer alone."""


class MixtureModel(GraphNetwork):
    r"""Two layers of the mean over neighbours j of :math:`\sum_k w_k(u_{ij})\, x_j G_k`.

    The coordinates are :math:`u_{ij} = \tanh(B (d_i^{-1/2}, d_j^{-1/2}) + b)` for degrees d that
    count a loop at every node, and each layer has B and b of its own.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.inputs = Inputs(problem.features)
        self.edges = edges_with_loops(problem.adjacency)
        degrees = 1.0 + np.asarray(problem.adjacency.sum(axis=1)).ravel()
        roots = torch.from_numpy(degrees.astype(np.float32) ** -0.5)
        self.degrees = roots[self.edges].T.contiguous()
        sizes = [self.inputs.n_features, HIDDEN, problem.n_classes]
        self.coordinates = nn.ModuleList(nn.Linear(2, COORDINATES) for _ in sizes[1:])
        layers = [
            GMMConv(size, after, COORDINATES, GAUSSIANS, root_weight=False)
            for size, after in pairwise(sizes)
        ]
        for layer in layers:
            nn.init.normal_(layer.mu, std=0.1)
            nn.init.ones_(layer.sigma)
        self.layers = nn.ModuleList(layers)

    def forward(self, nodes: Tensor) -> Tensor:
        """Return the scores of some nodes."""
        rate = DROPOUT if self.training else 0.0
        inner = self._layer(0, self.inputs.tensor(rate)).relu()
        return self._layer(1, dropout(inner, rate))[nodes]

    def _layer(self, place: int, values: Tensor) -> Tensor:
        seen = torch.tanh(self.coordinates[place](self.degrees))
        size = (len(values), len(values))
        result: Tensor = self.layers[place]((values, None), self.edges, seen, size)
        return result


def run(problem: Problem, seed: int, epochs: int | None = None) -> Prediction:
    """Train by Adam, and keep the weights with the least validation loss.

    A mean over neighbours, where the reference has a sum, and the weight decay are chosen on the
    validation nodes of Cora.

    Parameters
    ----------
    problem : Problem
        Graph and labels.
    seed : int
        Of weights and dropout.
    epochs : int, optional
        How many at most, instead of 200.
    """

    def prepare() -> tuple[GraphNetwork, torch.optim.Optimizer]:
        network = MixtureModel(problem)
        decayed = network.layers[0].g
        others = [value for value in network.parameters() if value is not decayed]
        groups: list[dict[str, Any]] = [
            {"params": [decayed], "weight_decay": WEIGHT_DECAY},
            {"params": others},
        ]
        return network, torch.optim.Adam(groups, lr=LEARNING_RATE)

    return learn(problem, seed, prepare, Patience(100), epochs or 200)
