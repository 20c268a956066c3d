"""Classification of nodes."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.base import Asked, GraphProcess
from gpgc.estimators.class_prior import class_prior
from gpgc.estimators.inputs import FeatureNorm, check_nodes, check_noise
from gpgc.estimators.labels import UNLABELLED, encode_labels
from gpgc.gp import NoiseChoice, Posterior, largest_probability
from gpgc.gp.calibration import (
    fit_scale_and_bias,
    fit_temperature_with_prior,
    information,
    root_mean_square,
    softmax,
)
from gpgc.gp.selection import cross_entropies
from gpgc.graph import Normalization
from gpgc.kernels import BaseKernel
from gpgc.models import Model

Probability = Literal["calibrated", "largest"]


class GPGCClassifier(ClassifierMixin, GraphProcess):
    """Label all nodes of a graph from a few, by the exact Gaussian process of an infinite GCN.

    The labels are regressed as one-hot targets 0/1 (section "Semi-supervised Classification with
    Gaussian Process" of the paper); there is nothing to train. Probabilities are calibrated on
    leave-one-out predictions, which need no validation labels.

    Parameters
    ----------
    model : {"big", "small", "broad"}
        The paper's networks, with and without aggregation over the graph in the hidden layers,
        or the one that looks near and far (:mod:`gpgc.models.broad`).
    base_kernel : str or BaseKernel
        K_θ on ÂX: ``"inner_product"``, ``"arc_cosine"``, ``"polynomial"``,
        ``"squared_exponential"``, or an object with parameters of its own.
    depth : int
        L, the number of layers.
    weight_variance, bias_variance : float
        δ_W and σ_b².
    noise_variance : float, "loo" or "evidence"
        σ_τ². ``"loo"`` takes the level with the best leave-one-out cross-entropy of a softmax with
        a fitted temperature, with a pull towards the model's usual level that decides where each
        class has one label (0.2 of the mean prior variance for *small* and *big*);
        ``"evidence"`` the level with the largest marginal likelihood.
    normalization : {"symmetric", "row"}
        Of the adjacency with self-loops.
    feature_norm : {"none", "l1", "l2"}
        Scale each row of X to this norm first.
    n_neighbors : int
        k of the nearest-neighbour graph that is built when ``fit`` gets no adjacency.
    dtype : {"float64", "float32"}
        In which the covariance is computed; the posterior is always solved in float64.
    n_jobs : int, optional
        Number of threads; all cores when not given.
    memory_limit : int, optional
        Bytes that fit and predict may take beside their input: tiles and buffers are cut to it,
        and what cannot be cut is refused before it starts. The machine's memory when not given.
    probability : {"calibrated", "largest"}
        ``"calibrated"``: softmax(t · mean + log(prior / shares)), with t fitted to leave-one-out
        predictions. ``"largest"``: the probability that a class has the largest latent value under
        the posterior. Either is the class prior for a node that neither links nor features that it
        shares with others connect, over any number of steps, with a labelled one.
    class_prior : {"estimated", "labels"} or array of shape (k,)
        Shares of the classes in the whole graph, in the order of ``classes_``: estimated from the
        unlabelled nodes by expectation-maximisation, those of the given labels, or known ones.
        Labels are often balanced where the world is not.
    random_state : int
        Seed of the landmarks that *broad* draws on large graphs; all else is exact.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The labels.
    transduction_ : array of shape (N,)
        A label for each node: the given one where there is one, else the predicted one.
    labelled_nodes_ : int array of shape (D,)
        The nodes whose labels were given.
    temperature_ : float
        t of the calibrated probabilities, an inverse temperature.
    class_prior_ : array of shape (k,)
        The class shares in use.
    noise_variance_, log_marginal_likelihood_ : float
        The noise σ_τ² in use, and the log evidence summed over the columns of the targets.
    feature_share_ : float
        How much the features alone count against the graph, where *broad* found that to be better.
    covariance_ : Covariance
        The prior covariance Γ of all nodes.
    adjacency_ : csr_array of shape (N, N)
        The graph, symmetric and without self-loops.

    Examples
    --------
    >>> import numpy as np
    >>> from gpgc import GPGCClassifier
    >>> chain = (np.arange(5), np.arange(1, 6))
    >>> y = np.array([0, -1, -1, -1, -1, 1])
    >>> GPGCClassifier().fit(None, y, adjacency=chain).predict()
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        model: Model = "broad",
        base_kernel: str | BaseKernel = "inner_product",
        depth: int = 2,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
        noise_variance: float | str = "loo",
        normalization: Normalization = "symmetric",
        feature_norm: FeatureNorm = "none",
        n_neighbors: int = 10,
        probability: Probability = "calibrated",
        class_prior: Any = "estimated",
        dtype: str = "float32",
        n_jobs: int | None = None,
        memory_limit: int | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            model,
            base_kernel,
            depth,
            weight_variance,
            bias_variance,
            noise_variance,
            normalization,
            feature_norm,
            n_neighbors,
            dtype,
            n_jobs,
            memory_limit,
            random_state,
        )
        self.probability = probability
        self.class_prior = class_prior

    def fit(self, X: Any, y: Any, adjacency: Any = None) -> Self:
        """Condition the Gaussian process on the labelled nodes.

        Parameters
        ----------
        X : array or sparse matrix of shape (N, F), or None
            Features of all nodes; None for one-hot features. Kernels see their directions: centre
            or standardise dense measurements first (counts and words are fine as they are).
        y : array of shape (N,)
            Labels, −1 (or None or NaN) where unlabelled.
        adjacency : graph, optional
            In any form that `gpgc.graph.as_adjacency` takes; when not given, the graph of the
            ``n_neighbors`` nearest neighbours of each row of X.

        Returns
        -------
        GPGCClassifier
            The estimator itself.
        """
        codes, classes = encode_labels(y)
        self._fit_graph(X, adjacency, len(codes))
        labelled = np.flatnonzero(codes != UNLABELLED)
        return self._condition(labelled, codes[labelled], classes)

    def fit_chosen(
        self, X: Any, codes: Integers, classes: NDArray[Any], adjacency: Any, feature_share: float
    ) -> Self:
        """Fit with a number as noise and with a known trust in the features alone.

        Parameters
        ----------
        X, adjacency : optional
            As in :meth:`fit`.
        codes, classes : arrays of shapes (N,) and (k,)
            The label of each node as an index of the classes, −1 where unlabelled.
        feature_share : float
            How much the features alone count against the graph, as in ``feature_share_``.

        Returns
        -------
        GPGCClassifier
            The estimator itself.
        """
        self._fit_graph(X, adjacency, len(codes))
        labelled = np.flatnonzero(codes != UNLABELLED)
        noise = check_noise(self.noise_variance, 1)
        if isinstance(noise, str):
            raise InputError(f"noise_variance must be a number, got {noise!r}")
        return self._condition(labelled, codes[labelled], classes, (feature_share, noise))

    def relabel(self, y: Any) -> Self:
        """Condition on other labels of the same graph, without building its covariance again.

        Parameters
        ----------
        y : array of shape (N,)
            Labels, as in :meth:`fit`.

        Returns
        -------
        GPGCClassifier
            The estimator itself.
        """
        check_is_fitted(self, "covariance_")
        codes, classes = encode_labels(y)
        if len(codes) != self.covariance_.n_nodes:
            raise InputError(
                f"y must have one entry for each of the {self.covariance_.n_nodes} nodes, "
                f"got {len(codes)}"
            )
        labelled = np.flatnonzero(codes != UNLABELLED)
        return self._condition(labelled, codes[labelled], classes)

    def predict(self, X: Any = None, adjacency: Any = None) -> NDArray[Any]:
        """Return the model's opinion on the label of every node, the labelled ones included.

        Parameters
        ----------
        X : array or sparse matrix of shape (M, F), optional
            Features of nodes that join the graph; without it the nodes of the graph are meant.
        adjacency : array or sparse matrix of shape (M, N) or (M, N + M), optional
            Links of the new nodes; when not given, their nearest fitted rows if ``fit`` built the
            graph. Fitted nodes keep their degrees and covariances; nothing is refitted.

        Returns
        -------
        array of shape (N,) or (M,)
        """
        check_is_fitted(self)
        asked = self._ask(None, X, adjacency)
        scores = self._logits(asked) if self.probability == "calibrated" else self._proba(asked)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_proba(self, X: Any = None, adjacency: Any = None) -> Array:
        """Return the probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        X, adjacency : optional
            As in :meth:`predict`.

        Returns
        -------
        array of shape (N, k) or (M, k)
        """
        check_is_fitted(self)
        return self._proba(self._ask(None, X, adjacency))

    def calibrate(self, nodes: Any, y: Any) -> Self:
        """Fit temperature and class bias to labels that ``fit`` did not see.

        What leave-one-out and expectation-maximisation estimate from the training labels alone,
        held-out labels drawn like the rest of the graph tell better.

        Parameters
        ----------
        nodes : int array of shape (n,)
            Nodes of the graph, none of them among those that ``fit`` was given labels of. Those
            that no link or feature connects with a label do not count.
        y : array of shape (n,)
            Their labels, all in ``classes_``.

        Returns
        -------
        GPGCClassifier
            The estimator itself.
        """
        check_is_fitted(self)
        chosen = check_nodes(nodes, self.adjacency_.shape[0])
        codes = np.searchsorted(self.classes_, np.asarray(y))
        if chosen is None or len(codes) != len(chosen) or not len(codes):
            raise InputError("nodes and y must name the same, at least one, held-out nodes")
        if np.isin(chosen, self.labelled_nodes_).any():
            raise InputError("nodes must be held out: some of them were labelled in fit")
        if (np.asarray(self.classes_)[np.minimum(codes, len(self.classes_) - 1)] != y).any():
            raise InputError(f"y must hold labels among {self.classes_.tolist()}, got others")
        reached = self._components.reached(self.labelled_nodes_)[chosen]
        if not reached.any():
            raise InputError("nodes must hold some that links or features connect with a label")
        mean, targets = self._latent_mean[chosen], np.eye(len(self.classes_))[codes]
        self._calibrate(*fit_scale_and_bias(mean[reached], targets[reached]))
        return self

    def _condition(
        self,
        labelled: Integers,
        codes: Integers,
        classes: NDArray[Any],
        chosen: tuple[float, Array] | None = None,
        fitted: tuple[float, Array] | None = None,
    ) -> Self:
        """Condition on class codes; ``chosen`` and ``fitted`` are what is known beforehand."""
        if self.probability not in get_args(Probability):
            raise InputError(
                f"probability must be one of {', '.join(get_args(Probability))}, "
                f"got {self.probability!r}"
            )
        noise = check_noise(self.noise_variance, 1)
        self._fitted = False
        self.classes_, self._codes = classes, codes
        counts = np.bincount(codes, minlength=len(classes))
        weights = (1 - 1 / counts[codes]) * ~self._components.alone(labelled)
        targets = np.eye(len(classes))[codes]
        self._fit_process(labelled, targets, noise, "cross_entropy", weights, chosen)
        self.noise_variance_ = self._noise.noise_variance
        self._calibrate(*(fitted or self._calibrate_left_out(weights, counts / len(codes))))
        self._fitted = True
        return self

    def _condition_on(self, gamma: Array, targets: Array, levels: Array) -> Posterior:
        return Posterior(gamma, targets, float(levels[0]))

    def _calibrate_left_out(self, weights: Array, shares: Array) -> tuple[float, Array]:
        """Return t by leave-one-out, and the bias log(prior / shares)."""
        speaking = self._components.reached(self.labelled_nodes_)
        speaking[self.labelled_nodes_] = False
        unlabelled = self._latent_mean[speaking]
        mean, _ = self._posterior.leave_one_out()
        targets = self._posterior.targets
        t = fit_temperature_with_prior(mean, targets, weights, root_mean_square(unlabelled))
        losses = cross_entropies(mean, targets, np.asarray(t))
        prior = class_prior(
            self.class_prior,
            shares,
            lambda: softmax(t * unlabelled),
            len(targets),
            information(losses, weights, shares),
        )
        return t, np.log(prior / shares)

    def _calibrate(self, temperature: float, bias: Array) -> None:
        """Take t and b of softmax(t · mean + b), and what follows from them."""
        counts = np.bincount(self._codes, minlength=len(self.classes_))
        self.temperature_, self._bias = temperature, bias
        self.class_prior_ = softmax((np.log(counts / len(self._codes)) + bias)[None])[0]
        codes = self._logits(self._ask(None, None, None)).argmax(axis=1)
        codes[self.labelled_nodes_] = self._codes
        self.transduction_ = self.classes_[codes]

    def _logits(self, asked: Asked) -> Array:
        """Return log probabilities up to a constant, those of the class prior where not reached."""
        logits = self.temperature_ * asked.mean + self._bias
        return np.where(asked.reached[:, None], logits, np.log(self.class_prior_))

    def _proba(self, asked: Asked) -> Array:
        if self.probability == "calibrated":
            probabilities = softmax(self._logits(asked))
        else:
            std = np.sqrt(self._variance(asked))
            weighted = largest_probability(asked.mean, std) * np.exp(self._bias)
            probabilities = weighted / weighted.sum(axis=1, keepdims=True)
        probabilities[~asked.reached] = self.class_prior_
        return np.asarray(probabilities)

    def _state(self) -> dict[str, Any]:
        return {
            "classes": self.classes_,
            "codes": self._codes,
            "temperature": np.array(self.temperature_),
            "bias": self._bias,
        }

    def _restore(
        self, labelled: Integers, state: dict[str, Any], chosen: tuple[float, NoiseChoice]
    ) -> None:
        fraction, noise = chosen
        fitted = float(state["temperature"]), state["bias"]
        known = fraction, np.array([noise.noise_variance])
        self._condition(labelled, state["codes"], state["classes"], known, fitted)
