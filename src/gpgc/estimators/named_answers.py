"""Nodes by name in what an estimator answers."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gpgc.estimators.predictions import prediction_columns
from gpgc.models import Prior
from gpgc.tables import TableEncoder
from gpgc.tables.frames import make_frame


class NamedAnswers:
    """What a fitted estimator says of its nodes by name."""

    prior_: Prior

    @property
    def node_names_(self) -> NDArray[Any] | None:
        """The names of the nodes (N,), None where nothing named them."""
        return self.prior_.nodes.names

    @property
    def encoder_(self) -> TableEncoder | None:
        """How features are made of a table's columns, None where they came as numbers."""
        encoder: TableEncoder | None = self.prior_.nodes.encoder
        return encoder

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
            for several targets.

        Examples
        --------
        >>> import gpgc
        >>> model = gpgc.GPGCClassifier().fit(None, ["a", None, "b"], ([0, 1], [1, 2]))
        >>> list(model.to_frame(backend="pandas").columns)
        ['id', 'label', 'probability', 'std', 'given']
        """
        check_is_fitted(self)
        answers: Any = self
        return make_frame(prediction_columns(answers, X, adjacency), backend)
