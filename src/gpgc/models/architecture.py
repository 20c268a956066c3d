"""What a network is made of, apart from the graph that it runs on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, get_args

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.engine import Engine
from gpgc.errors import InputError
from gpgc.kernels import BaseKernel, Covariance

Model = Literal["small", "big", "broad"]


@dataclass(frozen=True)
class Architecture:
    """An infinitely wide graph network, apart from the graph that it runs on.

    Parameters
    ----------
    model : {"big", "small", "broad"}
        *big* and *small* are the paper's, with and without aggregation in the hidden layers
        (:mod:`gpgc.models.convolution`); *broad* looks farther (:mod:`gpgc.models.broad`).
    base_kernel : str or BaseKernel
        K_θ.
    depth : int
        L, the number of layers; 2 in the paper.
    weight_variance, bias_variance : float
        δ_W and σ_b².
    seed : int
        Of what is random; only *broad* on large graphs draws anything.
    """

    model: Model = "big"
    base_kernel: str | BaseKernel = "inner_product"
    depth: int = 2
    weight_variance: float = 1.0
    bias_variance: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.model not in get_args(Model):
            raise InputError(
                f"model must be one of {', '.join(get_args(Model))}, got {self.model!r}"
            )
        if not isinstance(self.depth, int | np.integer) or self.depth < 1:
            raise InputError(f"depth must be a whole number of at least 1, got {self.depth!r}")


class Network(Protocol):
    """An architecture on one graph."""

    usual_noise: float
    """Noise that fits many graphs, relative to the mean prior variance."""

    covariance: Covariance
    """Γ of all nodes, with full trust in the graph."""

    def variant(self, architecture: Architecture) -> Self:
        """Return another architecture of the same kind on the same graph, features and landmarks.

        What does not depend on the architecture is shared.
        """

    def candidates(self, rows: Integers, columns: Integers) -> Iterator[tuple[float, Array]]:
        """Give fractions of the features' own covariance with the Γ[rows, columns] they lead to.

        The first is the default; later ones trust the graph less.
        """

    def covariance_at(self, fraction: float) -> Covariance:
        """Return Γ of all nodes with this fraction of the features' own covariance."""

    def by_features(self) -> Covariance | None:
        """Return the covariance of the features without the graph; None without features."""

    def for_planning(self) -> Covariance:
        """Return the covariance by which it is planned what to label, where no label is known."""

    def join(
        self, rows: sp.csr_array, features: Any, labelled: Integers, fraction: float
    ) -> tuple[Covariance, Integers, Integers]:
        """Return a covariance that holds new and labelled nodes, and where each are in it.

        Parameters
        ----------
        rows : csr_array of shape (M, N + M)
            Rows of Â for the M new nodes.
        features : array or sparse matrix of shape (M, F), or None
            Of the new nodes; None in a graph without features.
        labelled : int array of shape (D,)
            The labelled nodes.
        fraction : float
            Of the features' own covariance.
        """


def build(
    architecture: Architecture,
    propagation: sp.csr_array,
    features: Any,
    dtype: Any = np.float64,
    engine: Engine | None = None,
) -> Network:
    """Put an architecture on a graph.

    Parameters
    ----------
    architecture : Architecture
        What to build.
    propagation : csr_array of shape (N, N)
        Â.
    features : array or sparse matrix of shape (N, F), or None
        X; None for one-hot features.
    dtype : numpy dtype
        Of the blocks.
    engine : Engine
        What runs the tiles.

    Returns
    -------
    Network
    """
    from gpgc.models.broad import BroadNetwork
    from gpgc.models.convolution import ConvolutionNetwork

    kind = BroadNetwork if architecture.model == "broad" else ConvolutionNetwork
    network: Network = kind(architecture, propagation, features, dtype, engine or Engine())
    return network
