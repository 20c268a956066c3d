"""Several labels a node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.estimators.given import encode_values, is_unlabelled, numbers_or_nan
from gpgc.estimators.regressor import GPGCRegressor
from gpgc.estimators.verbose import shows_progress
from gpgc.probability.label_thresholds import fit_label_scale, label_thresholds
from gpgc.problem.alignment import problem_of
from gpgc.problem.frames import column_names, is_frame, is_missing, make_frame, without_id
from gpgc.problem.names import NamedColumns, named_columns
from gpgc.problem.problem import Problem


class MultilabelClassifier(ClassifierMixin, BaseEstimator):
    """Give each node any number of labels: none, one or several.

    Whether a node has a label is regressed as 0 or 1, each label with a noise of its own on one
    covariance. Probabilities and the thresholds from which on a label is given are fitted to
    predictions of which each node was left out, so that no validation labels are needed.

    Parameters
    ----------
    estimator : GPGCRegressor, optional
        Whose parameters count, such as ``GPGCRegressor(model="big")``; the defaults when not given.
    threshold : "loo" or float, default "loo"
        From which probability on a label is given: where F1 of leaving nodes out is best, one for
        each label that five nodes have, or one number for all.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The labels.
    thresholds_ : array of shape (k,)
        From which probability on each is given.
    estimator_ : GPGCRegressor
        Fitted to 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> cliques = np.kron(np.eye(3), np.ones((4, 4)))
    >>> y = [("red",), ("red",), None, None, ("red", "round"), ("red", "round")] + [None] * 2
    >>> y += [("round",), ("round",), None, None]
    >>> model = MultilabelClassifier().fit(None, y, cliques)
    >>> model.predict_labels()[2], model.predict_labels()[6], model.predict_labels()[10]
    (('red',), ('red', 'round'), ('round',))
    """

    def __init__(
        self, estimator: GPGCRegressor | None = None, *, threshold: str | float = "loo"
    ) -> None:
        self.estimator, self.threshold = estimator, threshold

    @property
    def verbose(self) -> bool:
        """Whether work of more than two seconds shows how far it is."""
        return bool(getattr(self.estimator, "verbose", False))

    def fit(self, X: Any, y: Any, adjacency: Any = None, *, sample_weight: Any = None) -> Self:
        """Condition the Gaussian process on the nodes whose labels are known.

        Parameters
        ----------
        X, adjacency, sample_weight : optional
            As in :meth:`GPGCClassifier.fit`.
        y : N collections, dict, or array or frame of shape (N, k)
            A collection of labels for each node, such as a tuple or a set; an empty one says that
            a node has none of them, None that nothing is known. A dict {name: collection} names
            some nodes. In two dimensions, dense or sparse, 0 and 1 for each label, NaN where it is
            not known; the labels are a frame's columns, but for ``id``, else 0 … k − 1.

        Returns
        -------
        MultilabelClassifier
            The estimator itself.
        """
        self.__dict__.pop("estimator_", None)  # a fit that fails leaves nothing behind
        if self.threshold != "loo" and not _is_fraction(self.threshold):
            raise InputError(
                f"threshold must be 'loo' or lie between 0 and 1, got {self.threshold!r:.60}"
            )
        return self._fit_problem(problem_of(X, y, adjacency, sample_weight), only_label(y))

    @shows_progress("fitting")
    def _fit_problem(self, problem: Problem, called: Any) -> Self:
        """Regress 0 and 1 of each label; ``called`` is the one label of a frame."""
        classes, indicator = encode_collections(problem.y, called)
        columns = indicator[:, 0] if len(classes) == 1 else indicator
        given = replace(encode_values(columns, problem.sample_weight), is_vector=False)
        regressor = GPGCRegressor() if self.estimator is None else clone(self.estimator)
        prior = regressor.make_prior(problem.X, problem.adjacency, given.n_nodes, problem.names)
        regressor.fit_prior(prior, given)
        left_out, _ = regressor.leave_one_out()
        weights = given.weights / given.weights.mean()
        self.scale_ = fit_label_scale(left_out, given.targets, weights)
        self.thresholds_ = (
            label_thresholds(self.scale_.probabilities(left_out), given.targets)
            if self.threshold == "loo"
            else np.full(len(classes), float(self.threshold))
        )
        self.classes_, self.estimator_ = classes, regressor
        return self

    def predict_proba(self, X: Any = None, adjacency: Any = None) -> Array:
        """Return the probability of each label, each by itself, of shape (n, k).

        Parameters
        ----------
        X, adjacency : optional
            For nodes that join the graph, as in :meth:`GPGCClassifier.predict`.
        """
        check_is_fitted(self)
        return self.scale_.probabilities(self.estimator_.predict_latent(X=X, adjacency=adjacency))

    def predict(self, X: Any = None, adjacency: Any = None) -> NDArray[np.int64]:
        """Return 1 for each label that a node has, else 0, of shape (n, k)."""
        found = self.predict_proba(X, adjacency) >= self.thresholds_
        return np.asarray(found, dtype=np.int64)

    def predict_labels(self, X: Any = None, adjacency: Any = None) -> list[tuple[Any, ...]]:
        """Return the labels of each node."""
        rows = self.predict(X, adjacency).astype(bool)
        return [tuple(self.classes_[row].tolist()) for row in rows]

    def leave_one_out_proba(self) -> Array:
        """Return the probabilities (D, k) at each labelled node, by all others."""
        check_is_fitted(self)
        return self.scale_.probabilities(self.estimator_.leave_one_out()[0])

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a row a node: id, a column of probabilities a label, and given.

        A column is called as its label is, and ``probability of …`` where that name is taken.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of them that is installed when not given.
        """
        probabilities = self.predict_proba()
        names = self.estimator_.node_names_
        given = np.zeros(len(probabilities), dtype=bool)
        given[self.estimator_.labelled_nodes_] = True
        columns = {"id": np.arange(len(given)) if names is None else names}
        for place, label in enumerate(self.classes_):
            called = str(label)
            while called in (*columns, "given"):
                called = f"probability of {called}"
            columns[called] = probabilities[:, place]
        return make_frame({**columns, "given": given}, backend)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def only_label(y: Any) -> Any:
    """Return the name of the one label that a frame of 0 and 1 has beside ``id``, else None."""
    others = column_names(without_id(y)) if is_frame(y) else []
    return others[0] if len(others) == 1 and others[0] != "label" else None


def encode_collections(y: Any, called: Any = None) -> tuple[NDArray[Any], Array]:
    """Return the sorted labels (k,), and 0, 1 or NaN for each node and label (N, k)."""
    if called is not None and isinstance(y, np.ndarray) and y.ndim == 1:
        y = NamedColumns(y[:, None], np.array([called], dtype=object))
    if _is_table(y):
        whole = named_columns(y)
        table = numbers_or_nan(whole.rows).astype(np.float64)
        if not np.isin(table[~np.isnan(table)], (0, 1)).all():
            raise InputError("y must hold 0 and 1 for each label, or NaN, got other numbers")
        classes = np.empty(len(whole.columns), dtype=object)
        classes[:] = whole.columns.tolist()
        return classes, table
    rows = list(y)
    if _looks_like_table(rows):
        raise InputError(
            "y as lists of 0 and 1 must be an array, whose columns are the labels, or collections "
            "of labels, got lists of one length that repeat them"
        )
    known = [_collection(row) for row in rows]
    labels = {label for row in known if row is not None for label in row}
    if not labels:
        raise InputError(f"y must name at least one label, got {len(rows)} nodes without any")
    try:
        ordered = sorted(labels)
    except TypeError as error:
        raise InputError(f"y must hold labels of one type, got several: {error}") from error
    classes = np.empty(len(ordered), dtype=object)
    classes[:] = ordered
    table = np.full((len(rows), len(classes)), np.nan)
    for index, row in enumerate(known):
        if row is not None:
            table[index] = [label in row for label in ordered]
    return classes, table


def _is_table(y: Any) -> bool:
    """Tell whether labels are columns of 0 and 1, or NaN, and not collections."""
    if is_frame(y) or isinstance(y, NamedColumns) or sp.issparse(y):
        return True
    if not isinstance(y, np.ndarray) or y.ndim != 2:
        return False
    return y.dtype.kind in "biuf" or all(
        isinstance(cell, int | float | np.number) or is_missing(cell) for cell in y.ravel().tolist()
    )


def _looks_like_table(rows: list[Any]) -> bool:
    """Tell whether lists hold nothing but 0 and 1, and these again and again."""
    if not all(isinstance(row, list | tuple) and len(row) > 1 for row in rows):
        return False
    flat = [cell for row in rows for cell in row]
    is_binary = all(isinstance(cell, int | float) and cell in (0, 1) for cell in flat)
    repeats = any(len(set(row)) < len(row) for row in rows) if is_binary else False
    return repeats and len({len(row) for row in rows}) == 1


def _collection(row: Any) -> set[Any] | None:
    """Return the labels of a node, None where they are not known."""
    if isinstance(row, Iterable) and not isinstance(row, str | bytes):
        return set(row)
    if is_unlabelled(row):
        return None
    raise InputError(f"y must hold collections of labels, such as ('a', 'b'), got {row!r:.60}")


def _is_fraction(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1
