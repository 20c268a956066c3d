"""What both estimators share: one walk from a problem to its posterior, and latent answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.compute.progress import announce
from gpgc.errors import InputError
from gpgc.estimators.given import Given
from gpgc.estimators.inputs import check_nodes
from gpgc.estimators.joining import join
from gpgc.estimators.predictions import prediction_columns
from gpgc.estimators.prior_parameters import PriorParameters
from gpgc.estimators.verbose import shows_progress
from gpgc.gp import Smoother, Stack, StackedView, condition
from gpgc.gp.stack import shares_of
from gpgc.kernels import Covariance
from gpgc.models import Prior, ViewWeights
from gpgc.problem import TableEncoder
from gpgc.problem.alignment import align_labels, problem_of
from gpgc.problem.frames import make_frame
from gpgc.selection.choice import Choice, choose, label_sample
from gpgc.selection.constants import LABELS_FOR_VIEWS
from gpgc.selection.learning import learn
from gpgc.selection.noise_choice import Criterion, NoiseSelector

if TYPE_CHECKING:
    from gpgc.uncertainty.explanation import Explanation


class Unit(NamedTuple):
    """Of each target, (k,): Y = (y − offset) / scale is what views are conditioned on."""

    offset: Array
    scale: Array


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit found: plain data that files hold, and from which the posterior follows.

    ``mean`` (N, k) are the latent means of all nodes, in the unit of Y.
    """

    given: Any
    unit: Unit
    choice: Choice
    mean: Array
    approximations: tuple[str, ...] = ()

    @property
    def targets(self) -> Array:
        """Y (D, k), NaN where a target is not known."""
        return np.asarray((self.given.targets - self.unit.offset) / self.unit.scale)


class Asked(NamedTuple):
    """Nodes that an answer is wanted for: latent means, and what the labels reach of them.

    ``posterior`` holds nodes that join, at ``rows``; None for the fitted ones.
    """

    mean: Array
    reached: NDArray[np.bool_]
    rows: Integers | None
    posterior: Stack | None = None


class GraphProcess(PriorParameters):
    """A Gaussian process on the nodes of one graph; see the two estimators for the parameters."""

    criterion: ClassVar[Criterion]
    """What leaving labels out is judged by."""

    encode: ClassVar[Any]
    """Of y and sample_weight, what is learned from: labels, or values."""

    prior_: Prior
    fit_: Fit
    learned_: Mapping[str, tuple[float, float]] = MappingProxyType({})

    @property
    def adjacency_(self) -> sp.csr_array:
        """The graph (N, N), symmetric and without self-loops."""
        return self.prior_.nodes.adjacency

    @property
    def standardization_(self) -> str | None:
        """What was done to the columns of X; None where they stayed as they were."""
        nodes = self.prior_.nodes
        if nodes.standardization is not None:
            return "columns centered and scaled" if nodes.is_standardized else "columns scaled"
        return None if nodes.standardized is None else "columns as they came, and standardized"

    @property
    def covariance_(self) -> Covariance:
        """The prior covariance Γ of all nodes: of several views their sum, by their shares."""
        return self.posterior_.covariance

    @property
    def labelled_nodes_(self) -> Integers:
        """The nodes (D,) whose labels or values were given."""
        nodes: Integers = self.fit_.given.nodes
        return nodes

    @property
    def sample_weight_(self) -> Array:
        """How much each of them counts (D,)."""
        weights: Array = self.fit_.given.weights
        return weights

    @property
    def view_weights_(self) -> ViewWeights:
        """What the mean of each view that counts is multiplied by, on average over targets."""
        return {view.name: float(view.weight.mean()) for view in self.fit_.choice.views}

    @property
    def noise_levels_(self) -> dict[str, Array]:
        """The noise (1,) or (k,) of each view that counts, in the unit of Y."""
        return {view.name: view.levels for view in self.fit_.choice.views}

    @property
    def noise_variance_(self) -> Any:
        """C Σ p_v σ_v² over the views that are Gaussian processes, in the squared unit of y."""
        choice, is_smoother = self.fit_.choice, self.prior_.is_smoother
        shares = shares_of([view.weight for view in choice.views])
        terms = [
            (share, view.levels)
            for share, view in zip(shares, choice.views, strict=True)
            if not is_smoother(view.name) or len(choice.views) == 1
        ]
        total = np.sum([share for share, _ in terms], axis=0)
        parts = np.sum([share * levels for share, levels in terms], axis=0)
        found = choice.inflation * parts / np.where(total > 0, total, 1) * self.fit_.unit.scale**2
        return float(found[0]) if len(found) == 1 or self.criterion != "density" else found

    @property
    def approximations_(self) -> tuple[str, ...]:
        """What is not exact, a phrase each."""
        return self.fit_.approximations

    @property
    def log_marginal_likelihood_(self) -> float:
        """The log evidence of the labels, in the unit of y: of several views by their shares."""
        known = (~np.isnan(self.fit_.targets)).sum(axis=0)
        by_unit = float(known @ np.log(self.fit_.unit.scale))
        return self.posterior_.log_marginal_likelihood() - by_unit

    @property
    def space_(self) -> str:
        """Where posteriors were computed: ``"function"`` or ``"weight"`` space, or ``"both"``."""
        return self.posterior_.space

    @property
    def node_names_(self) -> NDArray[Any] | None:
        """The names of the nodes (N,), None where nothing named them."""
        return self.prior_.nodes.names

    @property
    def encoder_(self) -> TableEncoder | None:
        """How features are made of a table's columns, None where they came as numbers."""
        encoder: TableEncoder | None = self.prior_.nodes.encoder
        return encoder

    @cached_property
    def posterior_(self) -> Stack:
        """The weighted sum of the views that count, conditioned on the labels; made when asked."""
        return conditioned(self.prior_, self.fit_, self)

    @shows_progress("predicting")
    def predict_latent(
        self,
        nodes: Any = None,
        return_std: bool = False,
        return_cov: bool = False,
        *,
        X: Any = None,
        adjacency: Any = None,
    ) -> Any:
        """Return the posterior of the latent function, without noise.

        Parameters
        ----------
        nodes : array of shape (n,), optional
            Nodes of the fitted graph, indices or names; all when not given.
        return_std : bool, default False
            Whether to return the standard deviation.
        return_cov : bool, default False
            Whether to return the covariance Λ of the nodes.
        X, adjacency : optional
            For nodes that join the graph, as in ``predict``, in place of ``nodes``.

        Returns
        -------
        mean : array of shape (n, k)
            One column a class or target; never squeezed.
        std : array of shape (n,), or (n, k) for a regressor of several targets
            With ``return_std``. A node with neither features nor neighbors that have some has no
            prior variance of its own; it gets the mean one of the labelled nodes.
        cov : array of shape (n, n), or (n, n, k) for a regressor of several targets
            With ``return_cov``.
        """
        check_is_fitted(self)
        asked = self._ask(nodes, X, adjacency)
        answer: list[Array] = [asked.mean * self.fit_.unit.scale + self.fit_.unit.offset]
        if return_std:
            announce("standard deviations")
            variance = (asked.posterior or self.posterior_).variance(asked.rows)
            answer.append(np.sqrt(variance) * self._one_scale)
        if return_cov:
            joint = (asked.posterior or self.posterior_).joint_covariance(asked.rows)
            answer.append(joint * self._one_scale**2)
        return answer[0] if len(answer) == 1 else tuple(answer)

    def leave_one_out(self) -> tuple[Array, Array]:
        """Return how each labelled node would be predicted from the others, in closed form.

        Returns
        -------
        mean : array of shape (D, k)
            In the order of ``labelled_nodes_``.
        std : array of shape (D,), or (D, k) for a regressor of several targets
            Of a noisy observation.
        """
        check_is_fitted(self)
        mean, variance = self.posterior_.leave_one_out()
        unit = self.fit_.unit
        return mean * unit.scale + unit.offset, np.sqrt(variance) * self._one_scale

    def explain(self, node: int | str) -> Explanation:
        """Return why a node gets its label or value: what each given label adds to its score.

        Parameters
        ----------
        node : int or str
            A node of the graph, by its index, or by its name where that is a string.

        Returns
        -------
        Explanation
            ``nodes`` that have a label, those that decided most first, with ``contributions`` that
            add up to the ``total`` score; printed as a table
            (:func:`gpgc.uncertainty.explanation.explain`).
        """
        from gpgc.uncertainty.explanation import explain

        return explain(self, node)

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to one file: arrays and JSON, no pickle; see `gpgc.load`."""
        from gpgc.estimators.storage import save

        check_is_fitted(self)
        save(self, Path(path))

    def to_frame(self, X: Any = None, adjacency: Any = None, *, backend: str | None = None) -> Any:
        """Return the answers as a frame with a row for each node.

        Parameters
        ----------
        X, adjacency : optional
            For nodes that join the graph, as in ``predict``; the fitted nodes when not given.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of them that is installed when not given.

        Returns
        -------
        DataFrame
            With the columns ``id, label, probability, std, given``; the label is the given one
            where there is one. Of a regressor ``id, value, std, given``, or ``value_0, std_0, …``
            for several targets, with their names in place of the numbers where y had any.

        Examples
        --------
        >>> import gpgc
        >>> model = gpgc.GPGCClassifier().fit(None, ["a", None, "b"], ([0, 1], [1, 2]))
        >>> list(model.to_frame(backend="pandas").columns)
        ['id', 'label', 'probability', 'std', 'given']
        """
        check_is_fitted(self)
        return make_frame(prediction_columns(self, X, adjacency), backend)

    @shows_progress("fitting")
    def relabel(self, y: Any, *, sample_weight: Any = None) -> Self:
        """Condition on other labels of the same graph, without building its covariance again.

        Parameters
        ----------
        y, sample_weight : arrays
            Labels or values and their weights, as in ``fit``; those by name follow ``node_names_``.

        Returns
        -------
        GPGCClassifier or GPGCRegressor
            The estimator itself.
        """
        check_is_fitted(self)
        y = align_labels(y, self.prior_.nodes)
        sample_weight = align_labels(sample_weight, self.prior_.nodes, "sample_weight")
        given, n_nodes = self.encode(y, sample_weight), len(self.prior_.nodes)
        if given.n_nodes != n_nodes:
            raise InputError(
                f"y must have one entry for each of the {n_nodes} nodes, got {given.n_nodes}"
            )
        return self.fit_prior(self.prior_, given)

    def fit_predict(
        self, X: Any, y: Any, adjacency: Any = None, *, sample_weight: Any = None
    ) -> Any:
        """Return the prediction for all nodes after a ``fit``, whose parameters these are."""
        return self.fit(X, y, adjacency, sample_weight=sample_weight).predict()

    def fit_prior(self, prior: Prior, given: Any, choice: Choice | None = None) -> Self:
        """Condition a prior on labels or values; views and noise are chosen where not known."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the posterior, which follows from the rest."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("posterior_", None)
        return state

    @shows_progress("fitting")
    def _fit(self, X: Any, y: Any, adjacency: Any, sample_weight: Any) -> Self:
        """Walk from data to a posterior and a decision; a fit that fails leaves nothing behind."""
        for name in ("fit_", "posterior_"):
            self.__dict__.pop(name, None)
        problem = problem_of(X, y, adjacency, sample_weight)
        given = self.encode(problem.y, problem.sample_weight)
        prior = self.make_prior(problem.X, problem.adjacency, given.n_nodes, problem.names)
        return self.fit_prior(prior, given)

    def _condition(
        self,
        prior: Prior,
        given: Given,
        unit: Unit,
        noise: Array | str,
        loo_weights: Array,
        choice: Choice | None,
    ) -> None:
        """Choose views and noise if they are not known, and condition the prior on Y."""
        prior.architecture.check_field(prior.nodes, given.nodes)
        targets = np.asarray((given.targets - unit.offset) / unit.scale)
        if choice is None:
            # values are noisy however sure their neighbors are: less is usual of classes alone
            network, of_classes = prior.architecture, self.criterion == "cross_entropy"
            usual = network.usual_noise(prior.nodes) if of_classes else network.relative_noise
            how = (noise, self.criterion, loo_weights, usual, given.relative_noise)
            prior, choice = self._choose(prior, given.nodes, NoiseSelector(targets, *how))
        names = [view.name for view in choice.views]
        prior.keep(names)
        posterior = conditioned(prior, Fit(given, unit, choice, targets[:0]), self)
        announce("means")
        plain = tuple(replace(view, known=None) for view in choice.views)
        said = (*prior.approximations(names), *posterior.approximations)
        self.prior_ = prior
        self.fit_ = Fit(given, unit, replace(choice, views=plain), prior.mean_of(posterior), said)
        self.__dict__["posterior_"] = posterior

    def _choose(
        self, prior: Prior, labelled: Integers, selector: NoiseSelector
    ) -> tuple[Prior, Choice]:
        """Return views and noise by leaving labels out, and the prior, whose numbers may move."""
        if not isinstance(self.learn, bool):
            raise InputError(f"learn must be True or False, got {self.learn!r}")
        if self.learn:  # from what the parameters say, not from what other labels taught
            prior = prior.variant(self.architecture())
        announce("choice of views and noise")
        choice = choose(prior, labelled, selector, self.space)
        self.learned_ = {}
        if not self.learn or not selector.weights.any():
            return prior, choice
        announce("learning")
        learnt = learn(prior, labelled, choice.views[0], selector)
        prior, self.learned_ = prior.variant(learnt.architecture), dict(learnt.numbers)
        if len(prior.views) == 1:
            return prior, Choice.of_one(choice.views[0].name, learnt.levels)
        # noise and weights of all views follow from what was learnt of one
        return prior, choose(prior, labelled, selector, self.space)

    @property
    def _one_scale(self) -> Array | float:
        """The unit of standard deviations (n,), or (n, k) for several values."""
        scale = self.fit_.unit.scale
        return float(scale[0]) if len(scale) == 1 or self.criterion != "density" else scale

    def _ask(self, nodes: Any, X: Any, adjacency: Any) -> Asked:
        """Return what is known about fitted nodes, or about those that X and adjacency join."""
        check_is_fitted(self)
        fitted, labelled = self.prior_.nodes, self.labelled_nodes_
        if X is None and adjacency is None:
            rows = check_nodes(nodes, len(fitted), fitted.names)
            index = slice(None) if rows is None else rows
            return Asked(self.fit_.mean[index], fitted.reach.reached(labelled)[index], rows)
        if nodes is not None:
            raise InputError("nodes cannot be combined with X or adjacency: those join new nodes")
        joined = join(self, X, adjacency)
        names = [view.name for view in self.posterior_.views]
        covariances, rows, known = self.prior_.joined(joined, labelled, names)
        posterior = self.posterior_.elsewhere(covariances, known)
        reached = fitted.reach.reached_new(joined.rows, joined.new_features, labelled)
        return Asked(posterior.mean(rows), reached, rows, posterior)


def conditioned(prior: Prior, fit: Fit, estimator: GraphProcess) -> Stack:
    """Return the stack of the chosen views, each conditioned on the labels."""
    labelled, targets, relative = fit.given.nodes, fit.targets, fit.given.relative_noise
    few = label_sample(prior.keys[labelled], targets, LABELS_FOR_VIEWS)
    apart = estimator.criterion == "density" and targets.shape[1] > 1
    views = []
    for view in fit.choice.views:
        part: Any = view.known
        if not prior.is_smoother(view.name):
            part = condition(
                prior.view(view.name),
                labelled,
                targets,
                view.levels,
                relative_noise=relative,
                known=part,
                space=estimator.space,
            )
        elif part is None:
            kernel: Any = prior.view(view.name)
            part = Smoother(kernel, labelled, targets, relative, apart, among=few)
        views.append(StackedView(view.name, view.weight, part))
    return Stack(views, fit.choice.inflation)
