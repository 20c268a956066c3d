r"""Planetoid-T: embeddings that predict both the label and the graph context of a node.

Embeddings are learnt first, by negative sampling: those of a node and of its context are to have a
large inner product where the context has the same label or, after that, was met nearby on a random
walk, and a small one where it has another label or was drawn at random. Then a network predicts the
label from the features and from the embedding, each through a softmax of its own that is trained to
predict the label as well; the embeddings go on being learnt.

References
----------
Yang, Cohen and Salakhutdinov, *Revisiting semi-supervised learning with graph embeddings*,
sections 3.1 and 3.3 (2016).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, logsigmoid

from gpgc_lab.array_types import Integers
from gpgc_lab.baselines.classical import accuracy
from gpgc_lab.baselines.network_training import GraphNetwork, Patience, learn
from gpgc_lab.baselines.tensors import Inputs, glorot
from gpgc_lab.baselines.walks import random_walks
from gpgc_lab.problem import Prediction, Problem

STEPS, WINDOW = 10, 3
"""Steps of a walk, and how far apart on it nodes are each other's context."""
PAIRS, LABEL_BATCHES = 100, 500
"""Pairs of labelled nodes in a batch of contexts, and batches."""
WALKS, WALK_BATCHES = 200, 40
"""Walks in a batch of contexts, and the least number of batches."""
NEGATIVES = 2
"""Nodes that are drawn against each context."""
CONTEXT_RATE, LABEL_RATE, EMBEDDING_RATE = 0.05, 0.03, 0.003
"""Steps of learning by contexts, and then by labels: of the network and of the embeddings."""
FEATURE_DECAY = 1e-4
"""Of the weights from the features to their own prediction."""
EMBEDDING_DECAYS = (1e-2, 1e-4)
"""Of the weights from the embeddings to theirs: the less decay, the more the graph is trusted."""


class Planetoid(GraphNetwork):
    """Scores from features and embeddings, each of which also predicts the label by itself."""

    def __init__(self, problem: Problem, embedding: Tensor) -> None:
        super().__init__()
        self.inputs = Inputs(problem.features)
        self.truth = torch.from_numpy(problem.labels[problem.train])
        self.embedding = nn.Parameter(embedding)
        self.from_features = glorot(self.inputs.n_features, problem.n_classes)
        self.from_embedding = nn.Linear(embedding.shape[1], problem.n_classes)
        self.joined = nn.Linear(2 * problem.n_classes, problem.n_classes)
        self.parts: tuple[Tensor, ...] = ()

    def forward(self, nodes: Tensor) -> Tensor:
        """Return the scores of some nodes, and keep those of the two parts."""
        by_features = self.inputs.times(self.from_features)[nodes]
        self.parts = by_features, self.from_embedding(self.embedding[nodes])
        scores: Tensor = self.joined(torch.cat([part.softmax(dim=1) for part in self.parts], dim=1))
        return scores

    def penalty(self) -> Tensor | float:
        """Return the loss of the two parts at the training nodes."""
        return sum(cross_entropy(part, self.truth) for part in self.parts)


def run(
    problem: Problem, seed: int, *, size: int = 50, walks: int = 3, epochs: int = 500
) -> Prediction:
    """Learn the embeddings, then train by Adam; keep the weights of the least validation loss.

    Validation labels also choose the decay; without them it is the larger one.

    Parameters
    ----------
    problem : Problem
        Graph and labels.
    seed : int
        Of walks, pairs and the network's weights.
    size : int
        Numbers of an embedding.
    walks : int
        Walks from each node, on average, that the embeddings are learnt from; more on small graphs.
    epochs : int
        Of the network, at most.
    """
    start = process_time()
    embedding = _embedding(problem, seed, size, walks)

    def prepare(decay: float) -> tuple[GraphNetwork, torch.optim.Optimizer]:
        network = Planetoid(problem, embedding.clone())
        groups: list[dict[str, Any]] = [
            {"params": [network.from_features], "weight_decay": FEATURE_DECAY},
            {"params": network.from_embedding.parameters(), "weight_decay": decay},
            {"params": network.joined.parameters()},
            {"params": [network.embedding], "lr": EMBEDDING_RATE},
        ]
        return network, torch.optim.Adam(groups, lr=LABEL_RATE)

    predictions = [
        learn(problem, seed, partial(prepare, decay), Patience(100), epochs)
        for decay in EMBEDDING_DECAYS[: None if problem.validation.size else 1]
    ]
    best = max(
        predictions, key=lambda said: accuracy(problem, said.probabilities, problem.validation)
    )
    return replace(best, train_seconds=process_time() - start - best.predict_seconds)


def _embedding(problem: Problem, seed: int, size: int, walks: int) -> Tensor:
    """Return embeddings (N, size) that tell the contexts of nodes from other nodes."""
    rng = np.random.default_rng(seed)
    n_nodes = len(problem.labels)
    drawn = torch.from_numpy(rng.normal(scale=0.01, size=(2, n_nodes, size))).float()
    tables = nodes, contexts = nn.Parameter(drawn[0]), nn.Parameter(drawn[1])
    optimiser = torch.optim.SGD(tables, CONTEXT_RATE)
    several_classes = len(np.unique(problem.labels[problem.train])) > 1
    by_labels = LABEL_BATCHES if several_classes else 0
    by_walks = max(WALK_BATCHES, walks * n_nodes // WALKS)
    for batch in range(by_labels + by_walks):
        sample = _labelled(problem, rng) if batch < by_labels else _walked(problem, rng)
        optimiser.zero_grad()
        torch.autograd.backward(_surprise(nodes, contexts, *sample))
        nn.utils.clip_grad_value_(tables, 1.0)
        optimiser.step()
    return nodes.detach()


Sample = tuple[Integers, Integers, Integers]
"""Nodes (n,), a context of each (n,) and nodes that are none (n, k)."""


def _surprise(nodes: Tensor, contexts: Tensor, *sample: Integers) -> Tensor:
    """Return the negative log likelihood of what is a context and what is none."""
    centre, met, unmet = (torch.from_numpy(part) for part in sample)
    embedded = nodes[centre]
    positive = (embedded * contexts[met]).sum(dim=1)
    negative = (contexts[unmet] @ embedded[:, :, None]).squeeze(2)
    return -(logsigmoid(positive) + logsigmoid(-negative).sum(dim=1)).sum()


def _walked(problem: Problem, rng: np.random.Generator) -> Sample:
    """Draw walks and pair the nodes that are near each other on them."""
    starts = rng.integers(len(problem.labels), size=WALKS)
    walks = random_walks(problem.adjacency, starts, STEPS, rng)
    ahead = [(walks[:, :-gap].ravel(), walks[:, gap:].ravel()) for gap in range(1, WINDOW + 1)]
    earlier, later = (np.concatenate(ends) for ends in zip(*ahead, strict=True))
    centre, met = np.concatenate([earlier, later]), np.concatenate([later, earlier])
    return centre, met, rng.integers(len(problem.labels), size=(len(centre), NEGATIVES))


def _labelled(problem: Problem, rng: np.random.Generator) -> Sample:
    """Pair training nodes with others of their class, and with nodes of other classes."""
    order = problem.train[np.argsort(problem.labels[problem.train], kind="stable")]
    classes = problem.labels[order]
    place = rng.integers(len(order), size=PAIRS)
    first = np.searchsorted(classes, classes[place], side="left")
    end = np.searchsorted(classes, classes[place], side="right")
    same = rng.integers(first, end)
    unlike = len(order) - (end - first)
    other = (end[:, None] + rng.integers(unlike[:, None], size=(PAIRS, NEGATIVES))) % len(order)
    return order[place], order[same], order[other]
