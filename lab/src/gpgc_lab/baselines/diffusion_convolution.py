"""DCNN: the features of a node and of those that random walks reach from it.

Reference: J. Atwood, D. Towsley, *Diffusion-convolutional neural networks*, 2016.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from gpgc_lab.baselines.network_training import GraphNetwork, Patience, learn
from gpgc_lab.baselines.tensors import unit_rows
from gpgc_lab.problem import Prediction, Problem

HOPS = 2
DROPOUT = 0.5
LEARNING_RATE = 0.05
BLOCK = 1024
"""Nodes whose diffused features are made dense at a time."""


class DiffusionConvolution(GraphNetwork):
    r"""Scores :math:`V\,\tanh(W \odot [X, PX, \dots, P^H X]_i) + b` of node i, with P = D⁻¹A."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.diffused = diffused_features(problem, HOPS)
        width = self.diffused.shape[1]
        self.scale = nn.Parameter(0.1 * torch.randn(width))
        self.dense = nn.Linear(width, problem.n_classes)

    def forward(self, nodes: Tensor) -> Tensor:
        """Return the scores of some nodes."""
        return torch.cat([self._scores(block) for block in torch.split(nodes, BLOCK)])

    def _scores(self, nodes: Tensor) -> Tensor:
        reached = torch.from_numpy(self.diffused[nodes.numpy()].toarray())
        inner = torch.tanh(self.scale * reached)
        scores: Tensor = self.dense(dropout(inner, DROPOUT, self.training))
        return scores


def diffused_features(problem: Problem, hops: int) -> sp.csr_array:
    """Return [X, PX, ..., P^H X] of shape (N, (H + 1) F)."""
    transition = unit_rows(problem.adjacency)
    parts = [unit_rows(problem.features)]
    for _ in range(hops):
        parts.append(transition @ parts[-1])
    return sp.csr_array(sp.hstack(parts), dtype=np.float32)


def run(problem: Problem, seed: int, epochs: int | None = None) -> Prediction:
    """Train by AdaGrad on all training nodes at once.

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
        network = DiffusionConvolution(problem)
        return network, torch.optim.Adagrad(network.parameters(), lr=LEARNING_RATE)

    return learn(problem, seed, prepare, Patience(50), epochs or 200)
