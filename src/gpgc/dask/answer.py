"""What a fit knows, asked about the nodes of a block: a pure function of what these are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import Cluster, task, tree
from gpgc.dask.describe import Numbers, covariance_at, known_inputs
from gpgc.dask.field import Field
from gpgc.gp import Smoother, Stack
from gpgc.kernels import Given
from gpgc.models.broad import Broad, BroadInputs
from gpgc.probability.temperature import root_mean_square, square_sums

ROWS_AT_ONCE = 2**14
"""Rows of a block that are described at once: of larger blocks no second copy is held."""


class Moved:
    """What takes a smoother to some of its nodes, whose sums it picks."""

    def __init__(self, nodes: Integers) -> None:
        self.nodes = nodes

    def extended(self, sums: Array) -> Array:
        """Return the sums of these nodes."""
        return sums[self.nodes]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A stack of views, with the rows of the nodes that tell of all others."""

    architecture: Broad
    stack: Stack  # whose covariances hold no nodes
    inputs: Mapping[str, BroadInputs]  # by view, of the known nodes
    labelled: Integers  # where the labelled ones are among them, if a posterior asks for them
    places: Integers  # of the known ones in the field
    dtype: str

    @classmethod
    def of(cls, field: Field, stack: Stack) -> Fitted:
        """Return what tells of all nodes, of a stack of views of a field."""
        architecture, context = field.prior.architecture, field.prior.context
        gaussian = [view for view in stack.views if not isinstance(view.posterior, Smoother)]
        every = np.arange(len(field.held))
        wanted, asks_labels = [every[:1]], False
        for view in gaussian:
            inputs, is_exact = field.inputs[view.name], field.prior.view(view.name).rank is None
            asks_labels = asks_labels or is_exact or view.posterior.space == "function"
            of_all = every if inputs.view.squared else every[:0]
            wanted.append(of_all if inputs.landmarks is None else np.asarray(inputs.landmarks))
        places = every if asks_labels else np.unique(np.concatenate(wanted))
        moved: dict[str, Any] = {view.name: Moved(every[:0]) for view in stack.views}
        moved |= {view.name: Given(np.empty((0, 0))) for view in gaussian}
        labelled = field.labelled if asks_labels else np.zeros(len(field.labelled), dtype=np.intp)
        known = {v.name: known_inputs(architecture, field.inputs[v.name], places) for v in gaussian}
        usual = tuple(stack.usual_variances)
        away = replace(stack.elsewhere(moved, labelled), usual=usual)
        return cls(architecture, away, known, labelled, field.held[places], str(context.dtype))

    def at(
        self, numbers: Mapping[str, Numbers], smoothed: Mapping[str, Smoother], part: slice
    ) -> Stack:
        """Return the stack at the known nodes and, after them, at some nodes of a block."""
        n_known = len(self.places)
        places = np.concatenate([np.arange(n_known), n_known + np.arange(part.start, part.stop)])
        moved: dict[str, Any] = {name: Moved(places) for name in smoothed}
        for name, inputs in self.inputs.items():
            moved[name] = covariance_at(self.architecture, inputs, numbers[name], part)
        views = [
            replace(view, posterior=smoothed.get(view.name, view.posterior))
            for view in self.stack.views
        ]
        return replace(self.stack, views=views).elsewhere(moved, self.labelled)


def answer(
    fitted: Fitted,
    numbers: Mapping[str, Numbers],
    smoothed: Mapping[str, Smoother],
    n_rows: int,
    is_variance: bool,
) -> Array:
    """Return latent means (n, k), or variances, of the nodes of a block."""
    found = []
    for start in range(0, n_rows, ROWS_AT_ONCE):
        part = slice(start, min(start + ROWS_AT_ONCE, n_rows))
        stack = fitted.at(numbers, smoothed, part)
        asked = len(fitted.places) + np.arange(part.stop - part.start)
        values = stack.variance(asked) if is_variance else stack.mean(asked)
        found.append(values if is_variance else values.astype(fitted.dtype))
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class Unlabelled:
    """Latent means of the unlabelled nodes that labels reach, which calibrate probabilities."""

    means: Sequence[Any]  # tasks, (n, k) each
    n_nodes: int
    cluster: Cluster

    def root_mean_square(self) -> float:
        """Return their usual length."""
        return root_mean_square(self._sum(square_sums))

    def mean_of(self, said: Callable[[Array], Array]) -> Array:
        """Return the mean (j,) over these nodes of a function of their means, (n, k) ↦ (n, j)."""
        return np.asarray(self._sum(sum_of, said) / self.n_nodes)

    def _sum(self, function: Callable[..., Any], *known: Any) -> Any:
        parts = [task(function, *known, part) for part in self.means]
        return self.cluster.fetch([tree(np.add, parts)])[0]


def sum_of(said: Callable[[Array], Array], means: Array) -> Array:
    """Return the sum (j,) over nodes of a function of their means."""
    return np.asarray(said(means).sum(axis=0))


def doubles(means: Sequence[Any]) -> list[Any]:
    """Return the tasks of blocks in float64."""
    return [task(np.asarray, part, np.float64) for part in means]
