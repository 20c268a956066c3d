"""The questions of a page or a widget, by the name of a route."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpgc.labelling.desk import Desk


def routes(desk: Desk) -> dict[str, Callable[[Mapping[str, Any], str], Any]]:
    """Return the questions that may be asked, each as a function of its arguments and the person.

    The answer is a dict for JSON, bytes, or a Picture.
    """
    return {
        "session": lambda asked, by: desk.settings(),
        "next": lambda asked, by: desk.next(
            by,
            int(asked.get("n", 2)),
            desk.check(asked["holding"]) if "holding" in asked else None,
        ),
        "item": lambda asked, by: desk.item(desk.check(asked.get("item"))),
        "near": lambda asked, by: desk.near(
            desk.check(asked.get("item")), str(asked.get("shows", "")).lower() in ("1", "true")
        ),
        "group": lambda asked, by: desk.group(str(asked.get("items", "")).split(",")),
        "sure": lambda asked, by: desk.sure(),
        "image": lambda asked, by: desk.picture(desk.check(asked.get("item"))),
        "edges": lambda asked, by: desk.edges(desk.check(asked.get("item"))),
        "estimate": lambda asked, by: desk.estimate(),
        "history": lambda asked, by: desk.history(by),
        "search": lambda asked, by: desk.search(str(asked.get("q", ""))),
        "layout": lambda asked, by: desk.layout(),
        "colours": lambda asked, by: desk.colours(),
    }
