"""GLCN: a graph convolutional network that learns how much each edge counts.

Reference: B. Jiang, Z. Zhang, D. Lin, J. Tang, B. Luo, *Semi-supervised learning with graph
learning-convolutional networks*, 2019.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import dropout
from torch_geometric.utils import softmax

from gpgc_lab.baselines.network_training import GraphNetwork, Patience, learn
from gpgc_lab.baselines.tensors import Inputs, SparseMatrix, glorot
from gpgc_lab.problem import Prediction, Problem

GRAPH_UNITS = 70
HIDDEN = 30
DROPOUT = 0.6
LEARNING_RATE = 0.005
WEIGHT_DECAY = 1e-4
SMOOTHNESS = 0.01
CONCENTRATION = 1e-4


class GraphLearning(GraphNetwork):
    r"""A convolution over the learnt graph S of the same edges and loops as A.

    .. math::

        S_{ij} = \frac{A_{ij} \exp \mathrm{ReLU}(a^\top |h_i - h_j|)}
                      {\sum_k A_{ik} \exp \mathrm{ReLU}(a^\top |h_i - h_k|)}, \quad h = XP
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.inputs = Inputs(problem.features)
        n_nodes = len(problem.labels)
        looped = sp.csr_array(problem.adjacency + sp.eye_array(n_nodes, format="csr"))
        looped.eliminate_zeros()
        self.graph = SparseMatrix(looped)
        self.logarithms = torch.from_numpy(np.log(looped.data).astype(np.float32))
        self.projection = glorot(self.inputs.n_features, GRAPH_UNITS)
        self.attention = glorot(GRAPH_UNITS, 1)
        self.first = glorot(self.inputs.n_features, HIDDEN)
        self.second = glorot(HIDDEN, problem.n_classes)
        self.graph_loss = torch.zeros(())

    def forward(self, nodes: Tensor) -> Tensor:
        """Return the scores of some nodes."""
        rate = DROPOUT if self.training else 0.0
        weights = self._edge_weights(rate)
        inner = self.graph.times(self.inputs.times(self.first, rate), weights).relu()
        return self.graph.times(dropout(inner, rate) @ self.second, weights)[nodes]

    def penalty(self) -> Tensor:
        """Return the loss of the graph that the last scores came from."""
        return self.graph_loss

    def _edge_weights(self, rate: float) -> Tensor:
        projected = self.inputs.times(self.projection, rate)
        apart = (projected[self.graph.rows] - projected[self.graph.columns]).abs()
        scores = (apart @ self.attention).ravel().relu() + self.logarithms
        weights: Tensor = softmax(scores, self.graph.rows, num_nodes=len(projected))
        smoothness = (weights * (apart * apart).sum(dim=1)).sum()
        self.graph_loss = SMOOTHNESS * smoothness - CONCENTRATION * (weights * weights).sum()
        return weights


def run(problem: Problem, seed: int, epochs: int | None = None) -> Prediction:
    """Train graph and convolution together.

    Parameters
    ----------
    problem : Problem
        Graph and labels.
    seed : int
        Of weights and dropout.
    epochs : int, optional
        How many at most, instead of 1,000 (300 without validation nodes).
    """

    def prepare() -> tuple[GraphNetwork, torch.optim.Optimizer]:
        network = GraphLearning(problem)
        decayed = [network.projection, network.attention, network.first]
        groups: list[dict[str, Any]] = [
            {"params": decayed, "weight_decay": WEIGHT_DECAY},
            {"params": [network.second]},
        ]
        return network, torch.optim.Adam(groups, lr=LEARNING_RATE)

    most = 1000 if len(problem.validation) else 300
    return learn(problem, seed, prepare, Patience(100), epochs or most)
