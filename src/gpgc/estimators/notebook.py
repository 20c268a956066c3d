"""How a fitted estimator looks in a notebook: graph, labels, views, noise, estimate."""

from __future__ import annotations

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
        if hasattr(self, "posterior_"):
            shown["text/html"] = facts_table(repr(self), self.facts())
        return shown

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_().get("text/html", f"<pre>{escape(repr(self))}</pre>")


def facts_table(title: str, facts: dict[str, str]) -> str:
    """Return facts as a table of HTML; whatever is in them is escaped.

    Examples
    --------
    >>> facts_table("f(x < 2)", {"labels": "a & b"})[:27]
    '<table><caption>f(x &lt; 2)'
    """
    left = 'style="text-align:left"'
    rows = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(fact)}</td></tr>"
        for name, fact in facts.items()
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>"


def graph_facts(model: Any) -> dict[str, str]:
    """Return what both estimators say: graph, labels, views, noise, what is approximate."""
    nodes = model.prior_.nodes
    kind = "of nearest neighbours" if nodes.from_features else "given"
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
