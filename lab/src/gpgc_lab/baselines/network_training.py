"""Training of the systems written in PyTorch: a network, when to stop, the loop."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gpgc_lab.problem import Prediction, Problem


class GraphNetwork(nn.Module):
    """A network that is called with nodes (n,) and returns their scores (n, C) before softmax."""

    def penalty(self) -> Tensor | float:
        """Return what the last call adds to the cross-entropy."""
        return 0.0


class Stopping(Protocol):
    """When to stop by the validation nodes, and which weights to keep."""

    def is_over(self, loss: float, accuracy: float, network: GraphNetwork) -> bool:
        """Return whether the epoch that gave this validation loss and accuracy is the last."""
        ...

    def restore(self, network: GraphNetwork) -> None:
        """Give the network the weights to keep."""
        ...


class Window:
    """Stop when the loss exceeds the mean of those before it; keep the last weights.

    Parameters
    ----------
    length : int
        How many epochs before the last one the mean is over.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        self.losses: list[float] = []

    def is_over(self, loss: float, accuracy: float, network: GraphNetwork) -> bool:
        """Compare the loss with the window before it, once there is one."""
        before = self.losses[-self.length :]
        self.losses.append(loss)
        return len(self.losses) > self.length + 1 and loss > float(np.mean(before))

    def restore(self, network: GraphNetwork) -> None:
        """Leave the weights of the last epoch."""


class Patience:
    """Stop when the loss has missed its best for long; go back to the best weights.

    Parameters
    ----------
    length : int
        How many epochs in a row may miss it.
    or_accuracy : bool
        Whether an epoch that reaches the best accuracy counts as well, as for GAT; the weights to
        keep are then those of the last epoch that reached both.
    """

    def __init__(self, length: int, or_accuracy: bool = False) -> None:
        self.length = length
        self.or_accuracy = or_accuracy
        self.missed = 0
        self.least, self.most = float("inf"), 0.0
        self.kept: dict[str, Tensor] = {}

    def is_over(self, loss: float, accuracy: float, network: GraphNetwork) -> bool:
        """Count the epochs that missed, and keep the weights of the best."""
        by_loss, by_accuracy = loss <= self.least, accuracy >= self.most
        if by_loss and (by_accuracy or not self.or_accuracy):
            self.kept = {name: value.clone() for name, value in network.state_dict().items()}
        reached = by_loss or (by_accuracy and self.or_accuracy)
        self.missed = 0 if reached else self.missed + 1
        self.least, self.most = min(loss, self.least), max(accuracy, self.most)
        return self.missed >= self.length

    def restore(self, network: GraphNetwork) -> None:
        """Go back to the weights that were kept, if there were validation nodes."""
        if self.kept:
            network.load_state_dict(self.kept)


def learn(
    problem: Problem,
    seed: int,
    prepare: Callable[[], tuple[GraphNetwork, torch.optim.Optimizer]],
    stopping: Stopping,
    epochs: int,
) -> Prediction:
    """Train a network on the training nodes and ask it about all of them.

    Parameters
    ----------
    problem : Problem
        Graph and labels.
    seed : int
        Of the initial weights and of dropout; the caller's own random numbers stay as they are.
    prepare : callable
        Returns the network and its optimiser.
    stopping : Stopping
        Asked after each epoch, if there are validation nodes.
    epochs : int
        How many at most; just as many without validation nodes.
    """
    torch.optim.SGD([torch.zeros(1)])  # the first optimiser of a process imports for seconds
    start = process_time()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network, optimiser = prepare()
        done = _train(problem, network, optimiser, stopping, epochs)
    trained = process_time()
    scores = _scores(network, torch.arange(len(problem.labels)))
    probabilities = torch.softmax(scores.double(), dim=1).numpy()
    return Prediction(probabilities, trained - start, process_time() - trained, done)


def _train(
    problem: Problem,
    network: GraphNetwork,
    optimiser: torch.optim.Optimizer,
    stopping: Stopping,
    epochs: int,
) -> int:
    train, validation, labels = (
        torch.from_numpy(part) for part in (problem.train, problem.validation, problem.labels)
    )
    done = 0
    while done < epochs:
        done += 1
        network.train()
        optimiser.zero_grad()
        loss = cross_entropy(network(train), labels[train])
        torch.autograd.backward(loss + network.penalty())
        optimiser.step()
        if len(validation):
            scores, truth = _scores(network, validation), labels[validation]
            accuracy = float((scores.argmax(dim=1) == truth).float().mean())
            if stopping.is_over(float(cross_entropy(scores, truth)), accuracy, network):
                break
    stopping.restore(network)
    return done


def _scores(network: GraphNetwork, nodes: Tensor) -> Tensor:
    network.eval()
    with torch.no_grad():
        scores: Tensor = network(nodes)
    return scores
