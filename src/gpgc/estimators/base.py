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
from gpgc.problem.alignment import align_labels
from gpgc.problem.frames import make_frame
from gpgc.problem.problem import Problem
from gpgc.selection.choice import Choice, choose, label_sample
from gpgc.selection.constants import LABELS_FOR_VIEWS
from gpgc.selection.learning import learn
from gpgc.selection.noise_choice import Criterion

if TYPE_CHECKING:
    from gpgc.uncertainty.explanation import Explanation


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit found: plain data that files hold, and from which the posterior follows."""

    labelled: Integers
    targets: Array
    weights: Array
    choice: Choice
    mean: Array
    approximations: tuple[str, ...]


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

    prior_: Prior
    view_weights_: ViewWeights
    learned_: Mapping[str, tuple[float, float]] = MappingProxyType({})
    fit_: Fit

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
        return self.fit_.labelled

    @property
    def log_marginal_likelihood_(self) -> float:
        """The log evidence of the labels, in the unit of y: of several views by their shares."""
        return self.posterior_.log_marginal_likelihood()

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
        return conditioned(self.prior_, self.fit_, self.criterion, self.space)

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
        answer: list[Array] = [self._to_unit(asked.mean)]
        if return_std:
            announce("standard deviations")
            posterior = asked.posterior or self.posterior_
            variance = posterior.variance(asked.rows)
            answer.append(self._spread_to_unit(np.sqrt(variance)))
        if return_cov:
            posterior = asked.posterior or self.posterior_
            joint = posterior.joint_covariance(asked.rows)
            answer.append(self._spread_to_unit(joint, power=2))
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
        return self._to_unit(mean), self._spread_to_unit(np.sqrt(variance))

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
        given, n_nodes = self.encoded(y, sample_weight), len(self.prior_.nodes)
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

    @shows_progress("fitting")
    def fit_problem(self, problem: Problem) -> Self:
        """Walk from a problem to a posterior and a decision: what ``fit`` does."""
        given = self.encoded(problem.y, problem.sample_weight)
        prior = self.make_prior(problem.X, problem.adjacency, given.n_nodes, problem.names)
        return self.fit_prior(prior, given)

    def encoded(self, y: Any, sample_weight: Any) -> Any:
        """Return what is learned from: labels, or values."""
        raise NotImplementedError

    def fit_prior(self, prior: Prior, given: Any, choice: Choice | None = None) -> Self:
        """Condition a prior on labels or values; views and noise are chosen where not known."""
        raise NotImplementedError

    def take(self, prior: Prior, fit: Fit) -> None:
        """Become fitted: take what a fit found, now or when the estimator was saved."""
        self.__dict__.pop("posterior_", None)
        views = fit.choice.views
        self.prior_, self.fit_ = prior, fit
        self.sample_weight_, self.approximations_ = fit.weights, fit.approximations
        self.view_weights_ = {view.name: float(view.weight.mean()) for view in views}
        self.noise_levels_ = {view.name: view.levels for view in views}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the posterior, which follows from the rest."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("posterior_", None)
        return state

    def _forget(self) -> None:
        """Make sure that a fit that fails leaves nothing behind."""
        for name in ("fit_", "posterior_"):
            self.__dict__.pop(name, None)

    def _condition(
        self,
        prior: Prior,
        given: Any,
        targets: Array,
        noise: Array | str,
        counted: Array,
        choice: Choice | None,
    ) -> None:
        """Choose views and noise if they are not known, and condition the prior on the targets."""
        labelled, trust = given.nodes, given.weights
        prior.architecture.check_field(prior.nodes, labelled)
        if choice is None:
            prior, choice = self._choose(prior, labelled, targets, noise, counted, trust)
        names = [view.name for view in choice.views]
        prior.keep(names)
        fit = Fit(labelled, targets, trust, choice, targets[:0], ())
        posterior = conditioned(prior, fit, self.criterion, self.space)
        announce("means")
        plain = tuple(replace(view, path=None, root=None) for view in choice.views)
        fit = replace(
            fit,
            choice=replace(choice, views=plain),
            mean=prior.mean_of(posterior),
            approximations=(*prior.approximations(names), *posterior.approximations),
        )
        self.take(prior, fit)
        self.__dict__["posterior_"] = posterior

    def _choose(
        self,
        prior: Prior,
        labelled: Integers,
        targets: Array,
        noise: Array | str,
        counted: Array,
        trust: Array,
    ) -> tuple[Prior, Choice]:
        """Return views and noise by leaving labels out, and the prior, whose numbers may move."""
        if not isinstance(self.learn, bool):
            raise InputError(f"learn must be True or False, got {self.learn!r}")
        if self.learn:  # from what the parameters say, not from what other labels taught
            prior = prior.variant(self.architecture())
        relative = None if (trust == 1).all() else 1 / trust
        announce("choice of views and noise")
        how = (noise, self.criterion, counted, relative, self.space)
        choice = choose(prior, labelled, targets, *how)
        self.learned_ = {}
        if not self.learn or not counted.any():
            return prior, choice
        announce("learning")
        by: Any = "evidence" if isinstance(noise, str) and noise == "evidence" else self.criterion
        is_free, view = isinstance(noise, str), choice.views[0]
        learnt = learn(prior, labelled, targets, view, by, counted, relative, learn_noise=is_free)
        prior, self.learned_ = prior.variant(learnt.architecture), dict(learnt.numbers)
        if len(prior.views) == 1:
            return prior, Choice.of_one(view.name, learnt.levels)
        # noise and weights of all views follow from what was learnt of one
        return prior, choose(prior, labelled, targets, *how)

    def _noise_variance(self) -> Array:
        """Return c Σ p_v σ_v² (1,) or (k,) over the views that are Gaussian processes."""
        choice = self.fit_.choice
        terms = [
            (share, view.levels)
            for share, view in zip(
                shares_of([view.weight for view in choice.views]), choice.views, strict=True
            )
            if not self.prior_.is_smoother(view.name) or len(choice.views) == 1
        ]
        total = np.sum([share for share, _ in terms], axis=0)
        parts = [share * levels for share, levels in terms]
        return np.asarray(choice.inflation * np.sum(parts, axis=0) / np.where(total > 0, total, 1))

    def _to_unit(self, mean: Array) -> Array:
        """Return latent means (n, k) in the unit of y, as a new array."""
        return mean.copy()

    def _spread_to_unit(self, spread: Array, power: int = 1) -> Array:
        """Return standard deviations, or with power 2 covariances, in the unit of y."""
        return spread

    def _ask(self, nodes: Any, X: Any, adjacency: Any) -> Asked:
        """Return what is known about fitted nodes, or about those that X and adjacency join."""
        check_is_fitted(self)
        fitted, labelled = self.prior_.nodes, self.fit_.labelled
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


def conditioned(prior: Prior, fit: Fit, criterion: Criterion, space: Any) -> Stack:
    """Return the stack of the chosen views, each conditioned on the labels."""
    relative = None if (fit.weights == 1).all() else 1 / fit.weights
    labelled, targets = fit.labelled, fit.targets
    few = label_sample(prior.keys[labelled], targets, LABELS_FOR_VIEWS)
    apart = criterion == "density" and targets.shape[1] > 1
    views = []
    for view in fit.choice.views:
        part: Any
        if prior.is_smoother(view.name):
            kernel = prior.view(view.name)
            part = Smoother(kernel, labelled, targets, relative, apart, among=few)
        else:
            part = condition(
                prior.view(view.name),
                labelled,
                targets,
                view.levels,
                relative_noise=relative,
                path=view.path,
                root=view.root,
                space=space,
            )
        views.append(StackedView(view.name, view.weight, part))
    return Stack(views, fit.choice.inflation)
