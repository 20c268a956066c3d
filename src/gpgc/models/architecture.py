"""What an infinitely wide graph network is, apart from the graph that it runs on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.numbers import is_real, is_whole
from gpgc.errors import InputError
from gpgc.graph.nodes import JoinedNodes, NodeInputs, Nodes
from gpgc.kernels import Activation, BaseKernel, Covariance, activation_from, base_kernel_from
from gpgc.models.homophily import Homophily

KernelKind = Literal["nngp", "ntk"]
"""The covariance of a network's outputs, or its tangent kernel."""

ViewWeights: TypeAlias = Mapping[str, float]
"""Name of a view → its weight in the covariance."""


LEAST = {"depth": 1, "seed": 0, "exact_nodes": 0, "n_landmarks": 1, "one_hot_nodes": 0}
"""Whole numbers of an architecture, as far as it has them, and the least that each may be."""


class Seen(NamedTuple):
    """A covariance that holds some nodes, maybe few others, and where they are in it."""

    covariance: Covariance
    nodes: Integers


@dataclass(frozen=True, kw_only=True)
class Architecture(ABC):
    """An infinitely wide graph network; subclasses say how nodes become a covariance.

    Parameters
    ----------
    base_kernel : str or BaseKernel, default "inner_product"
        K_θ on the input rows.
    activation : str or Activation, default "relu"
        φ of the hidden layers, see :mod:`gpgc.kernels.activations`.
    depth : int, default 2
        L, the number of layers.
    weight_variance : float, default 1
        δ_W, the variance of a weight times the width.
    bias_variance : float, default 0
        σ_b².
    kernel : {"nngp", "ntk"}, default "nngp"
        The covariance Γ of the outputs at random weights, or the tangent kernel Θ, by which an
        infinitely wide network learns (:mod:`gpgc.kernels.tangent`).
    seed : int, default 0
        Of what is drawn at random on large graphs, where anything is.
    """

    relative_noise: ClassVar[float] = 0.2
    """Noise that fits many graphs, relative to the mean prior variance."""

    learns: ClassVar[Mapping[str, tuple[float, float]]] = MappingProxyType(
        {"weight_variance": (0.0, np.inf), "bias_variance": (0.0, np.inf)}
    )
    """Numbers that ``learn=True`` moves, and between what; no inputs may depend on them."""

    needs_graph: ClassVar[bool] = True
    """Whether a graph is made of the features where none is given."""

    has_views: ClassVar[bool] = False
    """Whether nodes are seen in several ways, among them by columns as they come and scaled."""

    scales_rows: ClassVar[bool] = False
    """Whether features are scaled to rows of one length, so that their norm does not matter."""

    base_kernel: str | BaseKernel = "inner_product"
    activation: str | Activation = "relu"
    depth: int = 2
    weight_variance: float = 1.0
    bias_variance: float = 0.0
    kernel: KernelKind = "nngp"
    seed: int = 0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type in (float, "float") and not is_real(value):
                is_number = isinstance(value, float | np.floating)
                expected = "finite" if is_number else "a number"
                raise InputError(f"{each.name} must be {expected}, got {value!r}")
        base_kernel_from(self.base_kernel)
        activation_from(self.activation)
        if self.kernel not in get_args(KernelKind):
            raise InputError(
                f"kernel must be one of {', '.join(get_args(KernelKind))}, got {self.kernel!r}"
            )
        if self.kernel == "ntk":  # refused by an activation without a derivative
            activation_from(self.activation).derivative(np.zeros(1), np.ones(1), np.ones(1))
        for name, least in LEAST.items():
            value = getattr(self, name, least)
            if not is_whole(value, least):
                raise InputError(
                    f"{name} must be a whole number of at least {least}, got {value!r}"
                )
        if self.weight_variance <= 0:
            raise InputError(
                f"weight_variance must be finite and above 0, got {self.weight_variance!r}"
            )
        if self.bias_variance < 0:
            raise InputError(
                f"bias_variance must be finite and at least 0, got {self.bias_variance!r}"
            )

    @property
    def hops(self) -> int:
        """How many hops from a node the hidden layers see; inputs may reach farther."""
        return 0

    @abstractmethod
    def inputs(self, nodes: NodeInputs, context: Context) -> Any:
        """Return what depends on nodes but on no parameter of the layers, such as the rows of ÂX.

        Variants of one architecture share it (:meth:`gpgc.models.Prior.variant`).
        """

    @abstractmethod
    def covariance(self, inputs: Any) -> Covariance:
        """Return Γ of the nodes that the inputs belong to."""

    @abstractmethod
    def sample(self, nodes: Nodes, width: int, rng: np.random.Generator) -> Array:
        """Return the covariance (N, N) of the outputs of one random network of finite width.

        Given its hidden weights; it tends to Γ as 1/√width. Written from the network's layers
        with explicit weights, never from the covariance, whose oracle it is.
        """

    def usual_noise(self, nodes: Nodes) -> float:
        """Return the noise that fits many graphs of this kind, relative to the prior variance."""
        return self.relative_noise

    def planning(self, inputs: Any) -> Covariance:
        """Return the covariance by which it is planned what to label; by default Γ itself."""
        return self.covariance(inputs)

    def views(self, nodes: Nodes) -> tuple[str, ...]:
        """Return the names of the views among which labels may choose, the usual one first."""
        return ("graph",)

    def is_smoother(self, view: str) -> bool:
        """Tell whether a view is a smoothing kernel and not a covariance; none is by default."""
        return False

    def usual_shares(
        self, views: tuple[str, ...], nodes: Nodes, homophily: Homophily, of_values: bool
    ) -> ViewWeights:
        """Return what several views of nodes count before labels say anything, summing to 1."""
        return dict.fromkeys(views, 1 / len(views))

    def typical_nodes(self, keys: Array) -> Integers:
        """Return nodes over which means of views are compared, by their keys; all by default."""
        return np.arange(len(keys))

    def view_inputs(self, view: str, nodes: Nodes, context: Context) -> Any:
        """Return the inputs of a view: of all nodes with their links, or without them."""
        if view == "graph":
            return self.inputs(nodes, context)
        if view != "features" or nodes.features is None:
            known = "graph" if nodes.features is None else "graph or features"
            raise InputError(f"view must be {known}, got {view!r}")
        return self.inputs(nodes.alone(), context)

    def glimpse(self, view: str, nodes: Nodes, few: Integers, context: Context) -> Seen | None:
        """Return a view that tells of few nodes, where all are costly; None, by default, if not."""
        return None

    def approximations(self, inputs: Any) -> tuple[str, ...]:
        """Return what is not exact, a phrase each; nothing by default."""
        return ()

    def check_field(self, nodes: Nodes, labelled: Integers) -> None:
        """Refuse labels whose receptive field makes the exact covariance hopeless."""
        return

    def lasting(self, inputs: Any, nodes: Nodes, labelled: Integers) -> Integers | None:
        """Return the fitted nodes of which all joins are made; None if that depends on the join."""
        return None

    def lasting_inputs(self, inputs: Any, nodes: Nodes, known: Integers, context: Context) -> Any:
        """Return the inputs of lasting nodes, which are computed once."""
        raise NotImplementedError

    def added_inputs(self, inputs: Any, lasting: Any, joined: JoinedNodes, known: Integers) -> Any:
        """Return the inputs of lasting nodes, followed by those of new ones."""
        raise NotImplementedError

    def field(self, inputs: Any, joined: JoinedNodes, labelled: Integers) -> Integers:
        """Return the sorted nodes that a covariance of new and labelled nodes is made of.

        ``inputs`` are those of a view that has a weight.
        """
        return joined.field(np.union1d(labelled, joined.new), self.hops)

    def joined_inputs(
        self, inputs: Any, joined: JoinedNodes, field: Integers, context: Context
    ) -> Any:
        """Return the inputs of the nodes of a field, of which some are new."""
        return self.inputs(joined.restricted(field), context)


REGISTRY: dict[str, Callable[..., Architecture]] = {}
"""Name → what makes an architecture from the parameters of :class:`Architecture`."""


def register(name: str, make: Callable[..., Architecture]) -> None:
    """Make an architecture known by name to the estimators and the command line."""
    REGISTRY[name] = make


def architecture_from(choice: str | Architecture, **parameters: Any) -> Architecture:
    """Return an architecture by its name with the given parameters, or the object itself.

    Examples
    --------
    >>> architecture_from("big", depth=3)
    GCN(base_kernel='inner_product', activation='relu', depth=3, weight_variance=1.0,
        bias_variance=0.0, kernel='nngp', seed=0, hidden_propagation=True)
    """
    if isinstance(choice, Architecture):
        return choice
    if not isinstance(choice, str) or choice not in REGISTRY:
        raise InputError(
            f"model must be one of {', '.join(REGISTRY)}, or an Architecture, got {choice!r}"
        )
    return REGISTRY[choice](**parameters)
