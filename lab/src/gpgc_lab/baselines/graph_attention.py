"""GAT: neighbours weighted by attention, eight heads of eight units.

Reference: P. Veličković, G. Cucurull, A. Casanova, A. Romero, P. Liò, Y. Bengio, *Graph attention
networks*, 2018.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import dropout, elu
from torch_geometric.nn import GATConv

from gpgc_lab.baselines.network_training import GraphNetwork, Patience, learn
from gpgc_lab.baselines.tensors import Inputs, edges_with_loops
from gpgc_lab.problem import Prediction, Problem

HEADS = 8
UNITS = 8
DROPOUT = 0.6
FEW_LABELS = 100
"""With fewer training labels, the settings that the authors took for the 60 labels of Pubmed."""


class GraphAttention(GraphNetwork):
    """Two layers of attention; edge weights other than zero do not matter."""

    def __init__(self, problem: Problem, output_heads: int) -> None:
        super().__init__()
        self.inputs = Inputs(problem.features)
        self.edges = edges_with_loops(problem.adjacency)
        settings = {"dropout": DROPOUT, "add_self_loops": False}
        self.first = GATConv(self.inputs.n_features, UNITS, HEADS, **settings)
        self.second = GATConv(
            HEADS * UNITS, problem.n_classes, output_heads, concat=False, **settings
        )

    def forward(self, nodes: Tensor) -> Tensor:
        """Return the scores of some nodes."""
        rate = DROPOUT if self.training else 0.0
        inner = elu(self.first(self.inputs.tensor(rate), self.edges))
        scores: Tensor = self.second(dropout(inner, rate), self.edges)
        return scores[nodes]


def run(problem: Problem, seed: int, epochs: int | None = None) -> Prediction:
    """Train as the authors do, up to the number of epochs.

    Adam, until neither validation loss nor accuracy reached their best for 100 epochs; the weights
    that reached both are kept.

    Parameters
    ----------
    problem : Problem
        Graph and labels.
    seed : int
        Of weights and dropout.
    epochs : int, optional
        How many at most, instead of 1,000 (300 without validation nodes).
    """
    few = len(problem.train) < FEW_LABELS
    output_heads, rate, decay = (8, 0.01, 1e-3) if few else (1, 0.005, 5e-4)

    def prepare() -> tuple[GraphNetwork, torch.optim.Optimizer]:
        network = GraphAttention(problem, output_heads)
        return network, torch.optim.Adam(network.parameters(), lr=rate, weight_decay=decay)

    most = 1000 if len(problem.validation) else 300
    return learn(problem, seed, prepare, Patience(100, or_accuracy=True), epochs or most)
