"""How a fitted estimator looks in a notebook: graph, labels, views, noise, estimate."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


class NotebookView(BaseEstimator):
    """An estimator that shows, once it is fitted, what was fitted instead of its parameters."""

    def facts(self) -> dict[str, str]:
        """Return what there is to say about the fit, a name and a short text each."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**options)
        if self.__sklearn_is_fitted__():
            shown["text/html"] = facts_table(repr(self), self.facts())
        return shown

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_().get("text/html", f"<pre>{escape(repr(self))}</pre>")


def facts_table(title: str, facts: dict[str, str]) -> str:
    """Return facts as a table of HTML; whatever is in them is escaped."""
    return html_table(title, (), facts.items())


def html_table(title: str, head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table of HTML whose rows begin with what they are about; everything is escaped."""

    def cell(tag: str, content: Any) -> str:
        return f'<{tag} style="text-align:left">{escape(str(content))}</{tag}>'

    names = "".join(cell("th", name) for name in head)
    first = f"<thead><tr>{names}</tr></thead>" if names else ""
    lines = "".join(
        "<tr>"
        + "".join(cell("td" if place else "th", each) for place, each in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"<table><caption>{escape(title)}</caption>{first}<tbody>{lines}</tbody></table>"


class Shown:
    """A record that a console prints as ``str`` does, and a notebook shows as a table."""

    def table(self) -> tuple[str, Iterable[Any], Iterable[Iterable[Any]]]:
        """Return a title, the names of the columns, and rows."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(*self.table())


def graph_facts(model: Any) -> dict[str, str]:
    """Return what both estimators say: graph, labels, views, noise, what is approximate."""
    nodes = model.prior_.nodes
    kind = "of nearest neighbors" if nodes.from_features else "given"
    size = "none" if nodes.features is None else f"{nodes.features.shape[1]:,}"
    views = ", ".join(f"{name} {weight:.0%}" for name, weight in model.view_weights_.items())
    noise = np.atleast_1d(model.noise_variance_)
    facts = {
        "graph": f"{len(nodes):,} nodes, {nodes.adjacency.nnz // 2:,} edges ({kind})",
        "features": size,
        "labels": f"{len(model.labelled_nodes_):,} given",
        "views": views,
        "noise variance": ", ".join(f"{level:.3g}" for level in noise),
    }
    if model.approximations_:
        facts["approximate"] = "; ".join(model.approximations_)
    return facts
