"""Classification of nodes."""

from __future__ import annotations

from typing import Any, Self, get_args

from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.estimators.alignment import align_labels, named_inputs
from gpgc.estimators.class_answers import ClassAnswers
from gpgc.estimators.given_labels import GivenLabels, encode_given, left_out_weights
from gpgc.estimators.inputs import FeatureNorm, check_choice, check_noise
from gpgc.estimators.standardise import Standardise
from gpgc.estimators.verbose import shows_progress
from gpgc.gp import Space
from gpgc.graph import Normalization
from gpgc.kernels import Activation, BaseKernel
from gpgc.models import Architecture, KernelKind, Prior
from gpgc.probability.calibration import Calibration
from gpgc.probability.decision import DecisionRule
from gpgc.probability.score_curve import ScoreCurve
from gpgc.selection.choice import Choice


class GPGCClassifier(ClassifierMixin, ClassAnswers):
    """Label all nodes of a graph from a few, by the exact Gaussian process of an infinite GCN.

    The labels are regressed as one-hot targets 0/1 (section "Semi-supervised Classification with
    Gaussian Process" of the paper); there is nothing to train. Probabilities are
    softmax(t · mean + log(prior / fractions of the labels)), with t fitted to leave-one-out
    predictions, which need no validation labels. A node that neither links nor shared features
    connect with a labelled one, over any number of steps, has the class prior.

    Parameters
    ----------
    model : str or Architecture, default "broad"
        ``"broad"`` looks near and far; ``"big"`` and ``"small"`` are the paper's networks, with and
        without aggregation in the hidden layers; ``"appnp"``, ``"gcnii"``, ``"sage"``, ``"gin"``,
        ``"sgc"``; or an architecture with parameters of its own, in place of the next six.
    base_kernel : str or BaseKernel, default "inner_product"
        K_θ on ÂX: ``"inner_product"``, ``"arc_cosine"``, ``"polynomial"``,
        ``"squared_exponential"``, or an object with parameters of its own.
    activation : str or Activation, default "relu"
        φ of the hidden layers: ``"relu"``, ``"leaky_relu"``, ``"erf"``, ``"gelu"``,
        ``"identity"``, ``"step"``, ``"sin"``, ``"cos"``, or an object with parameters of its own.
    depth : int, default 2
        L, the number of layers.
    weight_variance, bias_variance : float, default 1 and 0
        δ_W, σ_b².
    kernel : {"nngp", "ntk"}, default "nngp"
        The covariance of the network's outputs at random weights, or its tangent kernel.
    learn : bool, default False
        Whether variances, length scale, teleport, weights of parts and the noise move to where the
        criterion of ``noise_variance`` is best, by L-BFGS (:mod:`gpgc.selection.learning`).
    noise_variance : float, "loo" or "evidence", default "loo"
        σ_τ². ``"loo"`` takes the level with the best leave-one-out cross-entropy of a softmax with
        a fitted temperature, with a pull towards the model's usual level that decides where each
        class has one label (0.2 of the mean prior variance for *small* and *big*);
        ``"evidence"`` the level with the largest marginal likelihood.
    normalization : {"symmetric", "row"}, default "symmetric"
        Of the adjacency with self-loops.
    feature_norm : {"none", "l1", "l2"}, default "none"
        Scale each row of X to this norm first.
    n_neighbors : int, default 10
        k of the nearest-neighbour graph that is built when ``fit`` gets no adjacency.
    dtype : {"float32", "float64"}, default "float32"
        In which the covariance is computed; the posterior is always solved in float64.
    n_jobs : int, optional
        Number of threads; all cores when not given.
    memory_limit : int or str, optional
        Bytes, or text such as ``"1GB"``, that fit and predict may take beside their input: tiles
        and buffers are cut to it, and what cannot be cut is refused before it starts. The
        machine's memory when not given.
    class_prior : {"estimated", "labels"} or array of shape (k,), default "estimated"
        Fractions of the classes in the whole graph, in the order of ``classes_``: estimated from
        what is predicted of the unlabelled nodes and how labels that are left out are predicted,
        those of the given labels, or known ones, also by class (a dict, a Series). Labels are
        often balanced where the world is not; labels that are few, or drawn at random, keep their
        own fractions.
    random_state : int, default 0
        Seed of the landmarks that *broad* draws on large graphs; all else is exact.
    standardise : {"auto", True, False}, default "auto"
        Whether columns of dense X are centred and scaled: where one unit drowns the rest or all
        rows point the same way (all but columns of 0 and 1), always, or never;
        ``standardisation_`` says what was done.
    decision : {"probable", "balanced"}, default "probable"
        Whether labels are the most probable class, or that of the largest probability over
        ``class_prior_``, so that rare classes are found as often as common ones. All answers follow
        it but the probabilities, which stay as they are.
    space : {"auto", "function", "weight"}, default "auto"
        Where the posterior is computed: D × D labels, or r × r weights for a covariance of rank r,
        exact and cheaper with many labels; others are approximated there where D × D cannot fit.
    verbose : bool, default False
        Whether work of more than two seconds shows on standard error how far it is.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The labels.
    transduction_ : array of shape (N,)
        A label for each node: the given one where there is one, else the predicted one.
    labelled_nodes_ : int array of shape (D,)
        The nodes whose labels were given.
    temperature_ : float
        t of the calibrated probabilities, an inverse temperature; with many labels the slope of a
        curve at 0 (:mod:`gpgc.probability.score_curve`).
    class_prior_ : array of shape (k,)
        The class fractions in use.
    sample_weight_ : array of shape (D,)
        How much each label counts, in the order of ``labelled_nodes_``.
    noise_variance_, log_marginal_likelihood_ : float
        The noise σ_τ² of a label of weight 1, and the log evidence of all columns of the targets.
    view_weights_ : dict
        Name of a view of the nodes → weight in the covariance: ``"graph"``, and where leaving
        labels out showed that they help ``"features"``, ``"neighbours"``, ``"structure"``,
        ``"degrees"`` or ``"hubs"`` (:mod:`gpgc.models.broad`).
    node_names_ : array of shape (N,), or None
        The names of the nodes, where X, y or adjacency had any.
    encoder_ : TableEncoder or None
        How features are made of a table's columns, where X was a frame that needed it.
    n_features_in_, feature_names_in_ : int, array
        Columns of X, the latter where they have names.
    learned_ : dict
        Name → numbers before and after, of what ``learn`` moved.
    prior_, posterior_ : Prior, Posterior
        The covariance before any label, and conditioned on the labels.
    space_, approximations_ : {"function", "weight"}, tuple of str
        Where it was computed, and what is not exact; empty on graphs of up to 2,000 nodes.
    calibration_, decision_ : Calibration, Decision
        What makes probabilities of latent means, and labels of these.
    covariance_, adjacency_ : Covariance, csr_array of shape (N, N)
        Γ of all nodes; the graph, symmetric and without self-loops.

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
        model: str | Architecture = "broad",
        *,
        base_kernel: str | BaseKernel = "inner_product",
        activation: str | Activation = "relu",
        depth: int = 2,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
        kernel: KernelKind = "nngp",
        learn: bool = False,
        noise_variance: float | str = "loo",
        normalization: Normalization = "symmetric",
        feature_norm: FeatureNorm = "none",
        n_neighbors: int = 10,
        dtype: str = "float32",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        random_state: int = 0,
        space: Space = "auto",
        standardise: Standardise = "auto",
        verbose: bool = False,
        class_prior: Any = "estimated",
        decision: DecisionRule = "probable",
    ) -> None:
        super().__init__(
            model,
            base_kernel=base_kernel,
            activation=activation,
            depth=depth,
            weight_variance=weight_variance,
            bias_variance=bias_variance,
            kernel=kernel,
            learn=learn,
            noise_variance=noise_variance,
            normalization=normalization,
            feature_norm=feature_norm,
            n_neighbors=n_neighbors,
            dtype=dtype,
            n_jobs=n_jobs,
            memory_limit=memory_limit,
            random_state=random_state,
            space=space,
            standardise=standardise,
            verbose=verbose,
        )
        self.class_prior, self.decision = class_prior, decision

    @shows_progress("fitting")
    def fit(self, X: Any, y: Any, adjacency: Any = None, *, sample_weight: Any = None) -> Self:
        """Condition the Gaussian process on the labelled nodes.

        Parameters
        ----------
        X : array, sparse matrix, frame or NodeTable of shape (N, F), or None
            Features of all nodes; None for one-hot features. Kernels see their directions: centre
            or standardise dense measurements first (counts and words are fine as they are). Frames
            may hold categories, texts and gaps, as of :func:`gpgc.encode_table`; a column ``id``,
            or the index of a pandas frame, names the nodes.
        y : array of shape (N,), or (N, k) with k ≥ 2, Series, frame or dict
            Labels, −1 (or None, NaN, NaT, pandas' NA, or masked) where unlabelled. By name: a
            Series with an index, or for some nodes a dict {name: label} or a frame with ``id`` and
            ``label``. In two dimensions soft labels: rows of probabilities of the classes
            0 … k − 1, or of those that name a frame's columns, NaN or 0 where unlabelled.
        adjacency : graph, optional
            A frame of edges with the columns ``source``, ``target`` and maybe ``weight``, or any
            form that `gpgc.graph.as_adjacency` takes; when not given, the graph of the
            ``n_neighbors`` nearest neighbours of each row of X.
        sample_weight : array of shape (N,), optional
            How much each label is to be trusted, 1 when not given: its noise is σ_τ² over its
            weight w, so that w = 3 is worth three independent votes for it and w = 0 none. Entries
            of unlabelled nodes do not count. :func:`gpgc.count_votes` makes y and weights of
            several votes for a node.

        Returns
        -------
        GPGCClassifier
        """
        self.__dict__.pop("posterior_", None)  # a fit that fails leaves nothing behind
        X, y, adjacency, sample_weight, names = named_inputs(X, y, adjacency, sample_weight)
        given = encode_given(y, sample_weight)
        return self.fit_prior(self.make_prior(X, adjacency, len(given.codes), names), given)

    @shows_progress("fitting")
    def relabel(self, y: Any, *, sample_weight: Any = None) -> Self:
        """Condition on other labels of the same graph, without building its covariance again.

        Parameters
        ----------
        y, sample_weight : arrays
            Labels and their weights, as in :meth:`fit`; those by name follow ``node_names_``.

        Returns
        -------
        GPGCClassifier
            The estimator itself.
        """
        check_is_fitted(self)
        y = align_labels(y, self.prior_.nodes)
        sample_weight = align_labels(sample_weight, self.prior_.nodes, "sample_weight")
        return self.fit_prior(self.prior_, encode_given(y, sample_weight))

    def fit_predict(
        self, X: Any, y: Any, adjacency: Any = None, *, sample_weight: Any = None
    ) -> Any:
        """Return the prediction for all nodes after a :meth:`fit`, whose parameters these are."""
        return self.fit(X, y, adjacency, sample_weight=sample_weight).predict()

    def fit_prior(
        self,
        prior: Prior,
        given: GivenLabels,
        choice: Choice | None = None,
        calibration: tuple[ScoreCurve, Array, float] | None = None,
    ) -> Self:
        """Condition a prior on labels.

        Parameters
        ----------
        prior : Prior
            As :meth:`make_prior` gives it.
        given : GivenLabels
            Labels of its nodes.
        choice : Choice, optional
            Weights of the views and noise, where they are known; chosen by leave-one-out else.
        calibration : (ScoreCurve, array of shape (k,), float), optional
            Scores of latent means, class bias and flatness, where they are known
            (:class:`gpgc.probability.calibration.Calibration`).

        Returns
        -------
        GPGCClassifier
        """
        check_choice("decision", self.decision, get_args(DecisionRule))
        if len(given.codes) != len(prior.nodes):
            raise InputError(
                f"y must have one entry for each of the {len(prior.nodes)} nodes, "
                f"got {len(given.codes)}"
            )
        noise = check_noise(self.noise_variance, 1)
        labelled, targets, trust = given.nodes, given.targets, given.weights
        counted = left_out_weights(targets, trust, prior.nodes.reach.alone(labelled))
        choice = self._condition(
            prior, labelled, targets, noise, "cross_entropy", counted, choice, trust
        )
        self.classes_, self.codes_ = given.classes, given.codes[given.nodes]
        self.noise_variance_ = float(choice.levels[0])
        if calibration is None:
            self.set_calibration(self.calibration_left_out(counted))
        else:
            curve, bias, flat = calibration
            self.set_calibration(Calibration.of(curve, bias, self.label_fractions(), flat))
        return self
