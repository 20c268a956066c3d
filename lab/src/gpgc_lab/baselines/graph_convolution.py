"""GCN: the graph convolutional network of two layers.

Reference: T. Kipf, M. Welling, *Semi-supervised classification with graph convolutional networks*,
2017.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import dropout

from gpgc.graph import normalize
from gpgc_lab.baselines.network_training import GraphNetwork, Window, learn
from gpgc_lab.baselines.tensors import Inputs, SparseMatrix, glorot
from gpgc_lab.problem import Prediction, Problem

DROPOUT = 0.5
LEARNING_RATE = 0.01
WEIGHT_DECAY = 5e-4
"""Of the first layer alone."""


class GraphConvolution(GraphNetwork):
    r"""Scores :math:`\hat A\,\mathrm{ReLU}(\hat A X W^{(1)})\,W^{(2)}`, without biases."""

    def __init__(self, problem: Problem, hidden: int) -> None:
        super().__init__()
        self.inputs = Inputs(problem.features)
        self.propagation = SparseMatrix(normalize(problem.adjacency))
        self.first = glorot(self.inputs.n_features, hidden)
        self.second = glorot(hidden, problem.n_classes)

    def forward(self, nodes: Tensor) -> Tensor:
        """Return the scores of some nodes."""
        rate = DROPOUT if self.training else 0.0
        inner = self.propagation.times(self.inputs.times(self.first, rate)).relu()
        return self.propagation.times(dropout(inner, rate) @ self.second)[nodes]


def run(problem: Problem, seed: int, hidden: int = 16, epochs: int | None = None) -> Prediction:
    """Train as the authors' code does.

    Adam, at most 200 epochs; it stops when the validation loss exceeds the mean of the ten before
    it, and keeps the weights of that epoch.

    Parameters
    ----------
    problem : Problem
        Graph and labels.
    seed : int
        Of weights and dropout.
    hidden : int
        Number of hidden units.
    epochs : int, optional
        How many at most, instead of 200.
    """

    def prepare() -> tuple[GraphNetwork, torch.optim.Optimizer]:
        network = GraphConvolution(problem, hidden)
        groups: list[dict[str, Any]] = [
            {"params": [network.first], "weight_decay": WEIGHT_DECAY},
            {"params": [network.second]},
        ]
        return network, torch.optim.Adam(groups, lr=LEARNING_RATE)

    return learn(problem, seed, prepare, Window(10), epochs or 200)
