"""Classification of nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.base import GraphProcess, Unit
from gpgc.estimators.given import GivenLabels, encode_given, left_out_weights
from gpgc.estimators.inputs import check_choice, check_nodes, check_noise
from gpgc.estimators.notebook import graph_facts
from gpgc.estimators.predictions import prediction_columns
from gpgc.models import Prior
from gpgc.probability.calibration import (
    Calibration,
    DecisionRule,
    MeanOf,
    calibrate_left_out,
    fit_scale_and_bias,
)
from gpgc.probability.class_prior import prior_of
from gpgc.probability.score_curve import ScoreCurve
from gpgc.probability.temperature import root_mean_square, square_sums
from gpgc.selection.choice import Choice, label_sample
from gpgc.selection.constants import CALIBRATION_LABELS
from gpgc.selection.noise_choice import Criterion

if TYPE_CHECKING:
    from gpgc.labelling.planning import Strategy, Suggestions
    from gpgc.uncertainty.expected_accuracy import ExpectedAccuracy, LabelsDrawn
    from gpgc.uncertainty.label_check import LabelCheck
    from gpgc.uncertainty.measures import Reliability


@dataclass(eq=False, repr=False)
class GPGCClassifier(ClassifierMixin, GraphProcess):
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
        k of the nearest-neighbor graph that is built when ``fit`` gets no adjacency.
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
    standardize : {"auto", True, False}, default "auto"
        Whether columns of dense X are centered and scaled: seen in both ways by *broad*, where it
        changes anything, so that leaving labels out decides (all but columns of 0 and 1); always;
        or never. ``standardization_`` says what was done.
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
        The noise σ_τ² of a label of weight 1, and the log evidence of all columns of the targets;
        of several views their means, by shares of the weights.
    view_weights_ : dict
        Name of a view of the nodes → what its mean counts in the sum, of those that count: each
        is a Gaussian process of its own (:mod:`gpgc.models.broad`), weighed by leaving labels out
        (:mod:`gpgc.selection.stacking`).
    noise_levels_ : dict
        Name of a view → its own noise, of shape (1,).
    node_names_ : array of shape (N,), or None
        The names of the nodes, where X, y or adjacency had any.
    encoder_ : TableEncoder or None
        How features are made of a table's columns, where X was a frame that needed it.
    n_features_in_, feature_names_in_ : int, array
        Columns of X, the latter where they have names.
    learned_ : dict
        Name → numbers before and after, of what ``learn`` moved.
    prior_, posterior_ : Prior, Stack
        The views before any label, and the weighted sum of those that count, conditioned on them.
    space_, approximations_ : {"function", "weight", "both"}, tuple of str
        Where it was computed, and what is not exact; empty on graphs of up to 2,000 nodes.
    calibration_, decision_ : Calibration
        What makes probabilities of latent means, and labels of these.
    covariance_, adjacency_ : Covariance, csr_array of shape (N, N)
        Γ of all nodes, of several views their mean by shares of the weights; the graph, symmetric
        and without self-loops.

    Examples
    --------
    >>> import numpy as np
    >>> from gpgc import GPGCClassifier
    >>> chain = (np.arange(5), np.arange(1, 6))
    >>> y = np.array([0, -1, -1, -1, -1, 1])
    >>> GPGCClassifier().fit(None, y, adjacency=chain).predict()
    array([0, 0, 0, 1, 1, 1])
    """

    criterion: ClassVar[Criterion] = "cross_entropy"
    encode: ClassVar[Any] = staticmethod(encode_given)

    class_prior: Any = "estimated"
    decision: DecisionRule = "probable"

    def fit(self, X: Any, y: Any, adjacency: Any = None, *, sample_weight: Any = None) -> Self:
        """Condition the Gaussian process on the labelled nodes.

        Parameters
        ----------
        X : array, sparse matrix, frame or NodeTable of shape (N, F), or None
            Features of all nodes; None for one-hot features. Kernels see their directions: center
            or standardize dense measurements first (counts and words are fine as they are). Frames
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
            ``n_neighbors`` nearest neighbors of each row of X.
        sample_weight : array of shape (N,), optional
            How much each label is to be trusted, 1 when not given: its noise is σ_τ² over its
            weight w, so that w = 3 is worth three independent votes for it and w = 0 none. Entries
            of unlabelled nodes do not count. :func:`gpgc.count_votes` makes y and weights of
            several votes for a node.

        Returns
        -------
        GPGCClassifier
        """
        return self._fit(X, y, adjacency, sample_weight)

    def fit_prior(
        self,
        prior: Prior,
        given: GivenLabels,
        choice: Choice | None = None,
        calibration: Calibration | None = None,
        unlabelled: Callable[[Self], tuple[float, MeanOf | None]] | None = None,
    ) -> Self:
        """Condition a prior on labels; choice and calibration may be known.

        What unlabelled nodes are that labels reach, :meth:`calibration_left_out` asks a function of
        the estimator where they are not in this process.
        """
        check_choice("decision", self.decision, get_args(DecisionRule))
        noise = check_noise(self.noise_variance, given.n_levels)
        alone = prior.nodes.reach.alone(given.nodes)
        loo_weights = left_out_weights(given.targets, given.weights, alone)
        self._condition(prior, given, unit_of_classes(given), noise, loo_weights, choice)
        if calibration is None:
            known = None if unlabelled is None else unlabelled(self)
            calibration = self.calibration_left_out(loo_weights, known)
        self.calibration_ = calibration
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels (k,), sorted."""
        classes: NDArray[Any] = self.fit_.given.classes
        return classes

    @property
    def codes_(self) -> Integers:
        """The given labels (D,), as indices of ``classes_``."""
        codes: Integers = self.fit_.given.codes
        return codes

    @property
    def temperature_(self) -> float:
        """The slope of scores by latent means at 0, an inverse temperature."""
        return self.calibration_.curve.temperature

    @property
    def class_prior_(self) -> Array:
        """The class fractions (k,) in use."""
        return self.calibration_.class_prior

    @property
    def decision_(self) -> Calibration:
        """What makes probabilities, scores and classes of latent means."""
        return replace(self.calibration_, rule=self.decision)

    @property
    def transduction_(self) -> NDArray[Any]:
        """A label for each node (N,): the given one where there is one, else the predicted one."""
        asked = self._ask(None, None, None)
        codes = self.decision_.codes(asked.mean, asked.reached)
        codes[self.labelled_nodes_] = self.codes_
        return np.asarray(self.classes_[codes])

    def predict(self, X: Any = None, adjacency: Any = None) -> NDArray[Any]:
        """Return the model's opinion on the label of every node, the labelled ones included.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (M, F), optional
            Features of nodes that join the graph; without it the nodes of the graph are meant. A
            frame is encoded as that of ``fit`` was.
        adjacency : array or sparse matrix of shape (M, N) or (M, N + M), or frame, optional
            Links of the new nodes; when not given, their nearest fitted rows if ``fit`` built the
            graph. A frame of edges with the columns ``source``, ``target`` and maybe ``weight``,
            or a NetworkX graph, links new nodes and fitted ones by name; a frame of weights has
            columns named like the fitted nodes. Fitted nodes keep their degrees and covariances;
            nothing is refitted.

        Returns
        -------
        array of shape (N,) or (M,)
        """
        asked = self._ask(None, X, adjacency)
        return np.asarray(self.classes_[self.decision_.codes(asked.mean, asked.reached)])

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
        asked = self._ask(None, X, adjacency)
        return self.decision_.probabilities(asked.mean, asked.reached)

    def predict_log_proba(self, X: Any = None, adjacency: Any = None) -> Array:
        """Return the logarithm of :meth:`predict_proba`, −∞ where that is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, adjacency)))

    def decision_function(self, X: Any = None, adjacency: Any = None) -> Array:
        """Return the scores whose largest is the predicted label.

        They are t · mean + bias, whose softmax is :meth:`predict_proba`; with
        ``decision="balanced"`` less the logarithm of ``class_prior_``, and their softmax is what
        the probabilities would be if all classes were equally frequent.

        Parameters
        ----------
        X, adjacency : optional
            As in :meth:`predict`.

        Returns
        -------
        array of shape (n, k), or (n,) for two classes
            In the order of ``classes_``; of two, the second one's score less the first one's.
        """
        asked = self._ask(None, X, adjacency)
        scores = self.decision_.scores(asked.mean, asked.reached)
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)

    def calibrate(self, nodes: Any, y: Any) -> Self:
        """Fit temperature and class bias to labels that ``fit`` did not see.

        What leave-one-out and unlabelled nodes tell with the training labels alone,
        held-out labels drawn like the rest of the graph tell better.

        Parameters
        ----------
        nodes : array of shape (n,)
            Nodes of the graph, indices or names, none of them among those that ``fit`` was given
            labels of. Those that no link or feature connects with a label do not count.
        y : array of shape (n,)
            Their labels, all in ``classes_``.

        Returns
        -------
        GPGCClassifier
            The estimator itself.
        """
        check_is_fitted(self)
        chosen, codes = self.held_out(nodes, y)
        reached = self.prior_.nodes.reach.reached(self.labelled_nodes_)[chosen]
        if not reached.any():
            raise InputError("nodes must hold some that links or features connect with a label")
        mean, targets = self.fit_.mean[chosen], np.eye(len(self.classes_))[codes]
        scale, bias = fit_scale_and_bias(mean[reached], targets[reached])
        self.calibration_ = Calibration(ScoreCurve(scale), bias, label_fractions(self.fit_.given))
        return self

    def held_out(self, nodes: Any, y: Any) -> tuple[Integers, Integers]:
        """Return nodes that ``fit`` saw no label of, as indices, and their labels as codes."""
        chosen = check_nodes(nodes, len(self.prior_.nodes), self.node_names_)
        if chosen is None or np.isin(chosen, self.labelled_nodes_).any():
            raise InputError("nodes must be held out: some of them were labelled in fit")
        codes = self.codes_of(y)
        if codes.shape != chosen.shape or not len(codes):
            raise InputError(
                f"y must hold {len(chosen)} labels, one for each of at least one node, "
                f"got {len(codes)}"
            )
        return chosen, codes

    def codes_of(self, y: Any) -> Integers:
        """Return labels (n,) as indices of ``classes_``; others than those are refused."""
        given = np.asarray(y)
        codes = np.minimum(np.searchsorted(self.classes_, given), len(self.classes_) - 1)
        if given.ndim != 1 or (np.asarray(self.classes_)[codes] != given).any():
            raise InputError(
                f"y must hold labels among {self.classes_.tolist()}, got others: {given.tolist()}"
            )
        return np.asarray(codes)

    def calibration_left_out(
        self, loo_weights: Array, unlabelled: tuple[float, MeanOf | None] | None = None
    ) -> Calibration:
        """Return the calibration by leaving labels out, each of which counts so much (D,).

        ``unlabelled`` are the root mean square of the means of unlabelled nodes that labels reach,
        and what averages over them; those of the prior's nodes when not given.
        """
        given = self.fit_.given
        labelled, targets = given.nodes, given.targets
        if unlabelled is None:
            speaking = self.prior_.nodes.reach.reached(labelled)
            speaking[labelled] = False
            means = self.fit_.mean[speaking]
            contrast = root_mean_square(square_sums(means))
            unlabelled = contrast, (lambda said: said(means).mean(axis=0)) if len(means) else None
        contrast, of_nodes = unlabelled
        among = label_sample(self.prior_.keys[labelled], targets, CALIBRATION_LABELS)
        return calibrate_left_out(
            self.posterior_.leave_one_out(among).mean,
            targets[among],
            loo_weights[among],
            label_fractions(given),
            contrast,
            of_nodes,
            prior_of(self.class_prior, self.classes_),
            self.prior_.homophily.alike,
            self.fit_.choice.agreement,
        )

    def facts(self) -> dict[str, str]:
        """Return what a notebook shows: graph, labels, views, noise and an estimate."""
        facts = graph_facts(self)
        facts["labels"] += f" of {len(self.classes_):,} classes"
        hidden = np.ones(len(self.prior_.nodes), dtype=bool)
        hidden[self.labelled_nodes_] = False
        if hidden.any():
            expected = prediction_columns(self, with_std=False)["probability"][hidden].mean()
            facts["estimate"] = f"{expected:.0%} of the other nodes right, by their probabilities"
        return facts

    def leave_one_out_proba(self) -> Array:
        """Return the probabilities that each labelled node would get from the other labels.

        Returns
        -------
        array of shape (D, k)
            In the order of ``labelled_nodes_`` and ``classes_``; the class prior for a label that
            no other one reaches.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(2), np.ones((3, 3)))
        >>> y = ["a", "a", None, "b", "b", "a"]
        >>> model = GPGCClassifier().fit(None, y, adjacency=triangles)
        >>> model.leave_one_out_proba().argmax(axis=1)
        array([0, 0, 0, 0, 1])
        """
        return self.decision_.probabilities(*self._left_out())

    def leave_one_out_predict(self) -> NDArray[Any]:
        """Return the label that each labelled node would get from the other labels.

        Returns
        -------
        array of shape (D,)
            In the order of ``labelled_nodes_``, by the same ``decision`` as in :meth:`predict`.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(2), np.ones((3, 3)))
        >>> y = ["a", "a", None, "b", "b", "a"]
        >>> GPGCClassifier().fit(None, y, adjacency=triangles).leave_one_out_predict()
        array(['a', 'a', 'a', 'a', 'b'], dtype=object)
        """
        return np.asarray(self.classes_[self.decision_.codes(*self._left_out())])

    def _left_out(self) -> tuple[Array, NDArray[np.bool_]]:
        """Return what the other labels say of each label's node: means, and whether anything."""
        mean, _ = self.leave_one_out()
        return mean, ~self.prior_.nodes.reach.alone(self.labelled_nodes_)

    def check_labels(self) -> LabelCheck:
        """Return how likely each given label is wrong, the most suspicious first.

        Each label is compared with what the others say about its node; how many labels are wrong
        is estimated along with it (:func:`gpgc.probability.error_rate.label_errors`).

        Returns
        -------
        LabelCheck
            ``nodes``, ``given``, ``likely`` and ``probability``, worst first, and
            ``expected_errors``; printed as a table.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> cliques = np.kron(np.eye(2), np.ones((8, 8)))
        >>> y = [*"aaabaaaa", *"bbbbbbbb"]
        >>> found = GPGCClassifier().fit(None, y, adjacency=cliques).check_labels()
        >>> int(found.nodes[0]), found.given[0], found.likely[0], round(found.expected_errors)
        (3, 'b', 'a', 0)
        """
        from gpgc.uncertainty.label_check import check_labels

        return check_labels(self)

    def expected_accuracy(
        self, labels_drawn: LabelsDrawn | Any = "unknown", level: float = 0.9
    ) -> ExpectedAccuracy:
        """Return how many of the other nodes get the right label, by labels drawn at random.

        Each of these is predicted from all other labels; the interval is that of Clopper and
        Pearson. It is slightly pessimistic: every prediction has one label less than the model,
        and a class of one label is lost with it. Labels that were chosen, by :meth:`suggest` or
        by a person, are no sample of the others, and the accuracy is unknown with them alone.

        Parameters
        ----------
        labels_drawn : {"random", "chosen", "unknown"} or array, default "unknown"
            How the labelled nodes were found, or those of them that were drawn at random.
        level : float, default 0.9
            How often the interval is to hold the accuracy, between 0 and 1.

        Returns
        -------
        ExpectedAccuracy
            ``estimate``, ``low`` and ``high``, or None for each and the ``reason``: labels that
            were not drawn at random, fewer than five that were, or one label a class.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> cliques = np.kron(np.eye(2), np.ones((8, 8)))
        >>> y = [*"aaaaa", None, None, None, *"bbbbb", None, None, None]
        >>> model = GPGCClassifier().fit(None, y, adjacency=cliques)
        >>> print(model.expected_accuracy("random"))
        100.0%, 90% interval 74.1% to 100.0%, by 10 random labels
        >>> print(model.expected_accuracy("chosen"))
        unknown: labels that were chosen say nothing about the others
        """
        from gpgc.uncertainty.expected_accuracy import expected_accuracy

        return expected_accuracy(self, labels_drawn, level)

    def prediction_sets(
        self, level: float = 0.9, *, nodes: Any = None, y: Any = None
    ) -> NDArray[np.bool_]:
        """Return for each node a set of classes that holds the true one with probability ``level``.

        Parameters
        ----------
        level : float, default 0.9
            Wanted coverage, between 0 and 1.
        nodes : array of shape (n,), optional
            Nodes, indices or names, that ``fit`` was given no label of, and the estimator was not
            calibrated on. If they are drawn uniformly from those without a training label, the set
            of another such node holds its class with probability of at least ``level``, whatever
            the model (split conformal sets). Without them the training labels are left out in turn
            in their place, in closed form: there is no guarantee, as labels drawn class by class
            are not exchangeable with the rest.
        y : array of shape (n,), optional
            The labels of ``nodes``.

        Returns
        -------
        bool array of shape (N, k)
            Which of ``classes_`` each node's set holds.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> chain = (np.arange(5), np.arange(1, 6))
        >>> model = GPGCClassifier().fit(None, [0, -1, -1, -1, -1, 1], adjacency=chain)
        >>> sets = model.prediction_sets(0.6, nodes=[1, 4], y=[0, 1])
        >>> [model.classes_[row].tolist() for row in sets[[0, 5]]]
        [[0], [1]]
        """
        from gpgc.uncertainty.sets import leave_one_out_sets, split_conformal_sets

        check_is_fitted(self)
        if (nodes is None) != (y is None):
            raise InputError("nodes and y must be given together, got one of them")
        if nodes is None:
            return leave_one_out_sets(self, level)
        return split_conformal_sets(self, nodes, y, level)

    def novelty(self, view: Literal["graph", "features"] = "graph") -> Array:
        r"""Return how little each node belongs to the labelled classes, larger is stranger.

        .. math:: 1 - \max_c \left(\Gamma_{\cdot D}\, (\Gamma_{DD} + \bar\gamma I)^{-1} Y\right)_c

        for 0/1 labels Y and the centered covariance Γ (:class:`gpgc.kernels.Center`) of mean
        variance :math:`\bar\gamma`, which is also the noise. Centered, a node that is like the
        average one correlates with no label, and so no class claims it; uncentered, every class
        claims every node through what all nodes share.

        Parameters
        ----------
        view : {"graph", "features"}, default "graph"
            By the graph's covariance, for nodes of a class without labels; or by the features
            alone, for nodes whose features are damaged, which the neighbors hide in the other view.

        Returns
        -------
        array of shape (N,)
            About 0 for nodes that surely belong, about 1 for those that do not.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(3), np.ones((3, 3)))
        >>> y = [0, 0, -1, -1, -1, -1, 1, 1, -1]
        >>> GPGCClassifier().fit(None, y, adjacency=triangles).novelty().round(1)
        array([0.4, 0.4, 0.4, 1.5, 1.5, 1.5, 0.4, 0.4, 0.4])
        """
        from gpgc.uncertainty.novelty import novelty

        return novelty(self, view)

    def reliability(self, nodes: Any = None, y: Any = None, *, n_bins: int = 10) -> Reliability:
        """Compare confidence with accuracy, in bins of confidence.

        Parameters
        ----------
        nodes, y : arrays of shape (n,), optional
            Nodes that ``fit`` was given no label of, indices or names, and their labels. Without
            them each training label is left out in turn; that is honest only where they were drawn
            at random.
        n_bins : int, default 10
            Number of bins of equal width.

        Returns
        -------
        Reliability
            ``confidence``, ``accuracy`` and ``size`` of each bin.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(2), np.ones((3, 3)))
        >>> model = GPGCClassifier().fit(None, [0, 0, -1, 1, 1, -1], adjacency=triangles)
        >>> int(model.reliability([2, 5], [0, 1], n_bins=2).accuracy[1])
        1
        """
        from gpgc.uncertainty.measures import reliability

        check_is_fitted(self)
        if (nodes is None) != (y is None):
            raise InputError("nodes and y must be given together, got one of them")
        if nodes is None:
            return reliability(self.leave_one_out_proba(), self.codes_, n_bins)
        chosen, codes = self.held_out(nodes, y)
        return reliability(self.predict_proba()[chosen], codes, n_bins)

    def suggest(
        self,
        n: int = 1,
        *,
        strategy: Strategy = "weighted",
        candidates: Any = None,
        costs: Any = None,
    ) -> Suggestions:
        """Return the nodes whose labels would help most, given those that there are.

        Parameters
        ----------
        n : int, default 1
            How many nodes.
        strategy : {"weighted", "variance"}, default "weighted"
            See :class:`gpgc.Labelling`.
        candidates : int array, optional
            Nodes that may be suggested; all when not given. Labelled ones never are.
        costs : array of shape (N,), optional
            What labelling each node costs.

        Returns
        -------
        Suggestions
            ``nodes`` and ``gains``, best first.

        Examples
        --------
        Of three triangles, the one without a label:

        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(3), np.ones((3, 3)))
        >>> y = [0, -1, -1, 1, -1, -1, -1, -1, -1]
        >>> model = GPGCClassifier(dtype="float64").fit(None, y, adjacency=triangles)
        >>> model.suggest().nodes // 3
        array([2])
        """
        from gpgc.labelling.labelling import Labelling

        return Labelling(self, candidates=candidates, costs=costs).suggest(n, strategy)


def unit_of_classes(given: GivenLabels) -> Unit:
    """Return the unit of 0 and 1."""
    n_classes = len(given.classes)
    return Unit(np.zeros(n_classes), np.ones(n_classes))


def label_fractions(given: GivenLabels) -> Array:
    """Return the fractions (k,) of the classes among the labels, by their weights."""
    return np.asarray(np.average(given.targets, axis=0, weights=given.weights))
