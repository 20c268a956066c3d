"""A graph convolutional network that is trained, as Kipf and Welling set it up."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy, dropout
from torch_geometric.nn import GCNConv

from benchmarks.measure import fastest
from benchmarks.task import Task


def run(task: str, epochs: int, seeds: int, hidden: int = 16) -> dict[str, Any]:
    """Train once for each seed: the least seconds, the mean accuracy of the last epochs."""
    given = Task.load(task)
    accuracy: list[float] = []

    def job() -> None:
        torch.manual_seed(len(accuracy))
        accuracy.append(given.accuracy(_train(given, epochs, hidden)))

    (seconds,) = fastest([job], seeds)
    return {"seconds": seconds, "accuracy": float(np.mean(accuracy))}


def _train(task: Task, epochs: int, hidden: int) -> Any:
    edges = torch.from_numpy(np.vstack(task.adjacency.nonzero()).astype(np.int64))
    total = np.maximum(np.asarray(task.features.sum(axis=1)), 1e-12)
    features = torch.from_numpy((task.features.toarray() / total[:, None]).astype(np.float32))
    train = torch.from_numpy(task.train.astype(np.int64))
    wanted = torch.from_numpy(task.labels[task.train].astype(np.int64))
    first = GCNConv(features.shape[1], hidden, cached=True)
    second = GCNConv(hidden, int(task.labels.max()) + 1, cached=True)
    optimiser = torch.optim.Adam(
        [
            {"params": first.parameters(), "weight_decay": 5e-4},
            {"params": second.parameters(), "weight_decay": 0.0},
        ],
        lr=0.01,
    )

    def forward(training: bool) -> torch.Tensor:
        inner = first(dropout(features, 0.5, training), edges).relu()
        scores: torch.Tensor = second(dropout(inner, 0.5, training), edges)
        return scores

    for _ in range(epochs):
        optimiser.zero_grad()
        cross_entropy(forward(True)[train], wanted).backward()
        optimiser.step()
    with torch.no_grad():
        return forward(False).argmax(dim=1).numpy()
