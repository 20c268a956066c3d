"""Classification of nodes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from gpgc._typing import Array, Integers
from gpgc.estimators.base import GraphProcess
from gpgc.estimators.labels import UNLABELLED, encode_labels
from gpgc.gp import NoiseChoice, largest_probability


class GPGCClassifier(ClassifierMixin, GraphProcess):
    """Label all nodes of a graph from a few, by the exact Gaussian process of an infinite GCN.

    The labels are regressed as one-hot targets 0/1 (section "Semi-supervised Classification with
    Gaussian Process" of the paper); there is nothing to train.

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
        a fitted temperature, or 0.2 of the mean prior variance where a class has one label;
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
    noise_variance_, log_marginal_likelihood_ : float
        The noise σ_τ² in use, and the log evidence summed over the columns of the targets.
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

    def fit(self, X: Any, y: Any, adjacency: Any = None) -> Self:
        """Condition the Gaussian process on the labelled nodes.

        Parameters
        ----------
        X : array or sparse matrix of shape (N, F), or None
            Features of all nodes; None for one-hot features.
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
        codes, self.classes_ = encode_labels(y)
        self._fit_graph(X, adjacency, len(codes))
        labelled = np.flatnonzero(codes != UNLABELLED)
        return self._condition(labelled, codes[labelled])

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
        mean = self.predict_latent(X=X, adjacency=adjacency)
        return np.asarray(self.classes_[mean.argmax(axis=1)])

    def predict_proba(self, X: Any = None, adjacency: Any = None) -> Array:
        """Return the probability of each class, in the order of ``classes_``.

        It is the probability that the class has the largest latent value under the posterior.

        Parameters
        ----------
        X, adjacency : optional
            As in :meth:`predict`.

        Returns
        -------
        array of shape (N, k) or (M, k)
        """
        mean, std = self.predict_latent(X=X, adjacency=adjacency, return_std=True)
        return largest_probability(mean, std)

    def _condition(
        self,
        labelled: Integers,
        codes: Integers,
        noise: NoiseChoice | None = None,
    ) -> Self:
        targets = np.eye(len(self.classes_))[codes]
        enough = len(self.classes_) > 1 and np.bincount(codes).min() >= 2
        self._fit_process(labelled, targets, "cross_entropy" if enough else None, noise)
        codes_everywhere = self._latent_mean.argmax(axis=1)
        codes_everywhere[labelled] = codes
        self.transduction_ = self.classes_[codes_everywhere]
        return self

    def _state(self) -> dict[str, Any]:
        codes = self._posterior.targets.argmax(axis=1)
        return {"classes": self.classes_, "codes": codes}

    def _restore(self, labelled: Integers, state: dict[str, Any], noise: NoiseChoice) -> None:
        self.classes_ = state["classes"]
        self._condition(labelled, state["codes"], noise)
