"""Classification of nodes on a cluster."""

from __future__ import annotations

from typing import Any, Self, get_args

import dask.array as da
import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gpgc.compute.progress import announce
from gpgc.dask.base import DaskProcess
from gpgc.dask.cluster import task
from gpgc.dask.labels import labels_of
from gpgc.dask.local import local_inputs
from gpgc.dask.means import (
    BlockMeans,
    block_labels,
    block_probabilities,
)
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.given_labels import GivenLabels, left_out_weights
from gpgc.estimators.inputs import FeatureNorm, check_choice, check_noise
from gpgc.estimators.labels import UNLABELLED
from gpgc.estimators.standardise import Standardise
from gpgc.graph import Normalization
from gpgc.kernels import Activation, BaseKernel
from gpgc.models import Architecture
from gpgc.models.likeness import alikeness
from gpgc.probability.calibration import calibrate_left_out
from gpgc.probability.class_prior import prior_of
from gpgc.probability.decision import Decision, DecisionRule
from gpgc.selection.choice import Choice
from gpgc.selection.subset import CALIBRATION_LABELS, label_sample


class DaskGPGCClassifier(ClassifierMixin, DaskProcess):
    """Label all nodes of a graph that is in blocks on a cluster, as :class:`gpgc.GPGCClassifier`.

    Rows of X are partitions. The same functions as on one machine are mapped over them; a step of
    the diffusion exchanges only rows that cross partitions, landmarks are those of the local
    estimator, and sums are added up in a fixed order, so that answers have the same bits for any
    number of workers. A worker that dies costs its blocks.

    Parameters
    ----------
    model : "broad" or Broad, default "broad"
        The default model; the others have no root in blocks of rows.
    base_kernel, activation, depth, weight_variance, bias_variance, noise_variance : optional
        As in :class:`gpgc.GPGCClassifier`; noise must be above 0.
    normalization, feature_norm, standardise, dtype, random_state : optional
        As there; the same sample of rows decides whether columns are standardised.
    class_prior, decision : optional
        As there.
    client : distributed.Client, optional
        The connection to the cluster; the current one when not given. It is never pickled.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The labels.
    labelled_nodes_ : int array of shape (D,)
        The nodes whose labels were given.
    temperature_, class_prior_, noise_variance_, log_marginal_likelihood_, view_weights_
        As in :class:`gpgc.GPGCClassifier`.
    approximations_ : tuple of str
        What is not exact in the covariance, a phrase each.
    standardisation_ : str or None
        What was done to the columns of X, and why.
    client_ : distributed.Client
        The client in use.

    Examples
    --------
    >>> import numpy as np, dask.array as da, dask.dataframe as dd, pandas as pd
    >>> from distributed import Client
    >>> chain = pd.DataFrame({"source": np.arange(5), "target": np.arange(1, 6)})
    >>> X = da.from_array(np.eye(6), chunks=(3, 6))
    >>> y = np.array([0, -1, -1, -1, -1, 1])
    >>> with Client(processes=False, n_workers=1, dashboard_address=None):
    ...     model = DaskGPGCClassifier().fit(X, y, dd.from_pandas(chain, npartitions=2))
    ...     model.predict().compute()
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        model: str | Architecture = "broad",
        *,
        base_kernel: str | BaseKernel = "inner_product",
        activation: str | Activation = "relu",
        depth: int = 2,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
        noise_variance: float | str = "loo",
        normalization: Normalization = "symmetric",
        feature_norm: FeatureNorm = "none",
        standardise: Standardise = "auto",
        dtype: str = "float32",
        random_state: int = 0,
        class_prior: Any = "estimated",
        decision: DecisionRule = "probable",
        client: Any = None,
    ) -> None:
        super().__init__(
            model,
            base_kernel=base_kernel,
            activation=activation,
            depth=depth,
            weight_variance=weight_variance,
            bias_variance=bias_variance,
            noise_variance=noise_variance,
            normalization=normalization,
            feature_norm=feature_norm,
            standardise=standardise,
            dtype=dtype,
            random_state=random_state,
            client=client,
        )
        self.class_prior, self.decision = class_prior, decision

    def fit(self, X: Any, y: Any, adjacency: Any, *, sample_weight: Any = None) -> Self:
        """Condition the Gaussian process on the labelled nodes.

        Parameters
        ----------
        X : dask array of shape (N, F)
            Features, whose blocks of rows are the partitions. They are read once for their units,
            once for the fit, and once more for the answers if the view by features or by
            neighbours is taken.
        y : dask or NumPy array of shape (N,)
            Labels, −1 (or None, NaN) where unlabelled.
        adjacency : Dask DataFrame or path
            Edges in any order, with the whole numbers ``source`` and ``target`` from 0 to N − 1
            and optionally ``weight``; a path is a Parquet file or folder that workers can read.
        sample_weight : array of shape (N,), optional
            As in :meth:`gpgc.GPGCClassifier.fit`.

        Returns
        -------
        DaskGPGCClassifier
            The estimator itself.
        """
        check_choice("decision", self.decision, get_args(DecisionRule))
        noise = check_noise(self.noise_variance, 1)
        given = labels_of(y, sample_weight, X, self.client)
        graph = self._build(X, given.nodes, adjacency)
        counted = left_out_weights(given.targets, given.weights, graph.reached.alone)
        levels = self._condition(
            graph, given.targets, noise, "cross_entropy", counted, given.weights
        )
        announce("probabilities")
        fractions = np.average(given.targets, axis=0, weights=given.weights)
        among = label_sample(graph.label_keys, given.targets, CALIBRATION_LABELS)
        self.calibration_ = calibrate_left_out(
            self._left_out(among).mean,
            BlockMeans(self._means, graph.reached.blocks, graph.labelled, graph.cluster),
            given.targets[among],
            counted[among],
            fractions,
            prior_of(self.class_prior, given.classes),
            alikeness(graph.likeness, unknown=1.0),
        )
        self.classes_, self._given = given.classes, given
        self.noise_variance_ = float(levels[0])
        self.temperature_ = self.calibration_.temperature
        self.class_prior_ = self.calibration_.class_prior
        return self

    @property
    def decision_(self) -> Decision:
        """What makes probabilities and classes of latent means."""
        return Decision(self.calibration_, self.decision)

    def predict(self) -> da.Array:
        """Return the model's opinion on the label of every node (N,), lazily."""
        check_is_fitted(self)
        tasks = [
            task(block_labels, mean, there, self.decision_, self.classes_)
            for mean, there in zip(self._means, self._graph.reached.blocks, strict=True)
        ]
        return self._array(tasks, None, self.classes_.dtype)

    def predict_proba(self) -> da.Array:
        """Return the probability of each class (N, k), in the order of ``classes_``, lazily."""
        check_is_fitted(self)
        tasks = [
            task(block_probabilities, mean, there, self.decision_)
            for mean, there in zip(self._means, self._graph.reached.blocks, strict=True)
        ]
        return self._array(tasks, len(self.classes_), np.float64)

    def to_local(self) -> GPGCClassifier:
        """Return the same model as a :class:`gpgc.GPGCClassifier` in this process.

        It holds all features and edges, and answers whatever the local estimator does; views,
        noise and calibration are not chosen again.
        """
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        parameters.pop("client")
        local = GPGCClassifier(**parameters)
        features, adjacency = local_inputs(self._graph)
        codes = np.full(self._graph.partition.n_nodes, UNLABELLED)
        codes[self._given.nodes] = self._given.targets.argmax(axis=1)
        given = GivenLabels(codes, self.classes_, self._given.targets, self._given.weights)
        return local.fit_prior(
            local.make_prior(features, adjacency, len(codes)),
            given,
            Choice(self.view_weights_, self.noise_levels_),
            (self.calibration_.curve, self.calibration_.bias, self.calibration_.flatness),
        )
