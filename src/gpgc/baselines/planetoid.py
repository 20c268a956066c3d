r"""Planetoid-T: embeddings that predict both the label and the graph context of a node.

Embeddings are learnt first, by negative sampling: those of a node and of its context are to have a
large inner product where the context was met nearby on a random walk or has the same label, and a
small one where it was drawn at random or has another label. Then a network predicts the label from
the features and from the embedding, each through a softmax of its own that is trained to predict
the label as well; the embeddings go on being learnt.

References
----------
Yang, Cohen and Salakhutdinov, *Revisiting semi-supervised learning with graph embeddings*,
sections 3.1 and 3.3 (2016).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, logsigmoid

from gpgc._typing import Integers
from gpgc.baselines.problem import Outcome, Problem
from gpgc.baselines.tensors import Inputs, Network, Patience, glorot, learn
from gpgc.baselines.walks import random_walks

STEPS, WINDOW = 10, 3
"""Steps of a walk, and how far apart on it nodes are each other's context."""
WALKS, PAIRS = 200, 100
"""Walks, and pairs of labelled nodes, in one batch of contexts."""
NEGATIVES = 5
"""Nodes that are drawn against each context."""
LEARNING_RATE = 0.01


class Planetoid(Network):
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
    problem: Problem, seed: int, *, size: int = 50, passes: int = 20, epochs: int = 500
) -> Outcome:
    """Learn the embeddings, then train by Adam; keep the weights of the least validation loss.

    Parameters
    ----------
    problem : Problem
        Graph and labels.
    seed : int
        Of walks, pairs and the network's weights.
    size : int
        Numbers of an embedding.
    passes : int
        Walks from each node that the embeddings are learnt from.
    epochs : int
        Of the network, at most.
    """

    def prepare() -> tuple[Network, torch.optim.Optimizer]:
        network = Planetoid(problem, embed(problem, seed, size, passes))
        return network, torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)

    return learn(problem, seed, prepare, Patience(50), epochs)


def embed(problem: Problem, seed: int, size: int, passes: int) -> Tensor:
    """Return embeddings (N, size) that tell the contexts of nodes from other nodes."""
    rng = np.random.default_rng(seed)
    n_nodes = len(problem.labels)
    nodes, contexts = 0.1 * torch.randn(2, n_nodes, size)
    optimiser = torch.optim.Adam([nodes.requires_grad_(), contexts.requires_grad_()], LEARNING_RATE)
    several_classes = len(np.unique(problem.labels[problem.train])) > 1
    for _ in range(passes):
        for starts in np.split(rng.permutation(n_nodes), range(WALKS, n_nodes, WALKS)):
            samples = [_walked(problem, starts, rng)]
            if several_classes:
                samples.append(_labelled(problem, rng))
            optimiser.zero_grad()
            loss = sum(_surprise(nodes, contexts, *sample) for sample in samples)
            torch.autograd.backward(loss)
            optimiser.step()
    return nodes.detach()


Sample = tuple[Integers, Integers, Integers]
"""Nodes (n,), a context of each (n,) and nodes that are none (n, k)."""


def _surprise(nodes: Tensor, contexts: Tensor, *sample: Integers) -> Tensor:
    """Return the mean negative log likelihood of what is a context and what is none."""
    centre, met, unmet = (torch.from_numpy(part) for part in sample)
    embedded = nodes[centre]
    positive = (embedded * contexts[met]).sum(dim=1)
    negative = (contexts[unmet] @ embedded[:, :, None]).squeeze(2)
    return -(logsigmoid(positive) + logsigmoid(-negative).sum(dim=1)).mean()


def _walked(problem: Problem, starts: Integers, rng: np.random.Generator) -> Sample:
    """Draw walks and pair the nodes that are near each other on them."""
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
