"""What the classifier and the regressor share: the posterior, and nodes that join later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.compute.progress import announce
from gpgc.errors import InputError
from gpgc.estimators.asked import Asked
from gpgc.estimators.inputs import check_nodes
from gpgc.estimators.joining import join
from gpgc.estimators.named_answers import NamedAnswers
from gpgc.estimators.prior_parameters import PriorParameters
from gpgc.estimators.verbose import shows_progress
from gpgc.gp import Posterior, condition
from gpgc.kernels import Covariance, Given
from gpgc.models import Prior, ViewWeights
from gpgc.selection.choice import Choice, choose
from gpgc.selection.learning import learn
from gpgc.selection.noise_choice import Criterion

if TYPE_CHECKING:
    from gpgc.uncertainty.explanation import Explanation


class GraphProcess(NamedAnswers, PriorParameters):
    """A Gaussian process on the nodes of one graph; see the two estimators for the parameters."""

    prior_: Prior
    posterior_: Posterior
    view_weights_: ViewWeights
    sample_weight_: Array
    learned_: Mapping[str, tuple[float, float]] = MappingProxyType({})

    @property
    def adjacency_(self) -> sp.csr_array:
        """The graph (N, N), symmetric and without self-loops."""
        return self.prior_.nodes.adjacency

    @property
    def standardisation_(self) -> str | None:
        """What was done to the columns of X, and why; None where they stayed as they were."""
        found = self.prior_.nodes.standardisation
        return None if found is None else str(found.said)

    @property
    def covariance_(self) -> Covariance:
        """The prior covariance Γ of all nodes."""
        return self.posterior_.covariance

    @property
    def labelled_nodes_(self) -> Integers:
        """The nodes (D,) whose labels or values were given."""
        return self.posterior_.labelled

    @property
    def space_(self) -> str:
        """Where the posterior was computed: in ``"function"`` or ``"weight"`` space."""
        return self.posterior_.space

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
            With ``return_std``. A node with neither features nor neighbours that have some has no
            prior variance of its own; it gets the mean one of the labelled nodes.
        cov : array of shape (n, n), or (n, n, k) for a regressor of several targets
            With ``return_cov``.
        """
        check_is_fitted(self)
        asked = self._ask(nodes, X, adjacency)
        answer: list[Array] = [self._to_unit(asked.mean)]
        if return_std:
            answer.append(self._spread_to_unit(np.sqrt(self._variance(asked))))
        if return_cov:
            joint = asked.posterior.joint_covariance(asked.rows)
            blank = np.flatnonzero(asked.posterior.covariance.diag(asked.rows) == 0)
            joint[blank, blank] = self._usual_variance
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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the covariance, which the prior can make again."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "posterior_" in state:
            nowhere = Given(np.empty((0, 0)))
            state["posterior_"] = self.posterior_.elsewhere(nowhere, self.labelled_nodes_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "posterior_" in state:
            covariance = self.prior_.covariance(self.view_weights_)
            self.posterior_ = self.posterior_.elsewhere(covariance, self.labelled_nodes_)

    def _condition(
        self,
        prior: Prior,
        labelled: Integers,
        targets: Array,
        noise: Array | str,
        criterion: Criterion,
        counted: Array,
        choice: Choice | None,
        sample_weight: Array,
    ) -> Choice:
        """Choose views and noise if they are not known, and condition the prior on the targets."""
        prior.architecture.check_field(prior.nodes, labelled)
        relative = None if (sample_weight == 1).all() else 1 / sample_weight
        if choice is None:
            if not isinstance(self.learn, bool):
                raise InputError(f"learn must be True or False, got {self.learn!r}")
            if self.learn:  # from what the parameters say, not from what other labels taught
                prior = prior.variant(self.architecture())
            announce("choice of views and noise")
            choice = choose(
                prior, labelled, targets, noise, criterion, counted, relative, self.space
            )
            self.learned_ = {}
            if self.learn and counted.any():
                announce("learning")
                learnt = learn(
                    prior,
                    labelled,
                    targets,
                    choice,
                    "evidence" if isinstance(noise, str) and noise == "evidence" else criterion,
                    counted,
                    relative,
                    learn_noise=isinstance(noise, str),
                )
                prior, self.learned_ = prior.variant(learnt.architecture), dict(learnt.numbers)
                choice = Choice(choice.view_weights, learnt.levels)
        prior.keep(choice.view_weights)
        covariance = prior.covariance(choice.view_weights)
        posterior = condition(
            covariance,
            labelled,
            targets,
            choice.levels,
            relative_noise=relative,
            path=choice.path,
            root=choice.root,
            space=self.space,
        )
        self.sample_weight_ = sample_weight
        self.prior_, self.view_weights_ = prior, dict(choice.view_weights)
        self.noise_levels_ = choice.levels
        approximate = prior.approximations(choice.view_weights)
        self.approximations_ = (*approximate, *posterior.approximations)
        announce("means")
        self._latent_mean = posterior.mean()
        if choice.root is not None:
            self._usual_variance = choice.root.scale
        else:
            variances = covariance.diag(labelled)
            self._usual_variance = float(np.mean(variances, dtype=np.float64)) or 1.0
        self.log_marginal_likelihood_ = posterior.log_marginal_likelihood()
        self.posterior_ = posterior
        return choice

    def _to_unit(self, mean: Array) -> Array:
        """Return latent means (n, k) in the unit of y, as a new array."""
        return mean.copy()

    def _spread_to_unit(self, spread: Array, power: int = 1) -> Array:
        """Return standard deviations, or with power 2 covariances, in the unit of y."""
        return spread

    def _ask(self, nodes: Any, X: Any, adjacency: Any) -> Asked:
        """Return what is known about fitted nodes, or about those that X and adjacency join."""
        reach = self.prior_.nodes.reach
        if X is None and adjacency is None:
            rows = check_nodes(nodes, len(self.prior_.nodes), self.node_names_)
            index = slice(None) if rows is None else rows
            reached = reach.reached(self.labelled_nodes_)
            return Asked(self.posterior_, rows, self._latent_mean[index], reached[index])
        if nodes is not None:
            raise InputError("nodes cannot be combined with X or adjacency: those join new nodes")
        joined = join(self, X, adjacency)
        covariance, rows, labelled = self.prior_.joined(
            joined, self.labelled_nodes_, self.view_weights_
        )
        posterior = self.posterior_.elsewhere(covariance, labelled)
        reached = reach.reached_new(joined.rows, joined.new_features, self.labelled_nodes_)
        return Asked(posterior, rows, posterior.mean(rows), reached)

    def _variance(self, asked: Asked) -> Array:
        """Return posterior variances; where a node has none, the mean prior one of the labelled."""
        announce("standard deviations")
        variance = asked.posterior.variance(asked.rows)
        blank = asked.posterior.covariance.diag(asked.rows) == 0
        variance[blank] = self._usual_variance
        return variance
