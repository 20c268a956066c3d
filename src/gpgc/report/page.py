"""The page: what was fitted, how sure it is, what to look at next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import gpgc
from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.files import write_file
from gpgc.plot.answers import Answers, positions_of
from gpgc.report.drawing import histogram, legend_mark, map_of_nodes, reliability_curve
from gpgc.uncertainty.expected_accuracy import ExpectedAccuracy

STYLE = "\n" + Path(__file__).with_name("style.css").read_text(encoding="utf-8")
"""The looks of the page, light and dark."""

MAP_NODES = 4_000
"""Number of nodes on the map; of more, the labelled ones and a sample of the others are drawn."""

SHOWN = 20
"""Rows of the tables of suspicious labels and suggestions."""

SUSPICIOUS = 0.1
"""Probability of being wrong from which on a label is shown."""

TEXT_LENGTH = 200


def write_report(
    model: GPGCClassifier,
    path: str | Path,
    *,
    ids: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    title: str = "gpgc",
    labels_drawn: Any = "unknown",
) -> None:
    """Write a page about a fitted classifier: one HTML file, whole or not at all.

    Parameters
    ----------
    model : GPGCClassifier
        Fitted.
    path : str or Path
        The file to write.
    ids, texts : sequences of N str, optional
        Names of the nodes, 0 … N − 1 when not given, and a text for each.
    title : str, default "gpgc"
        Of the page.
    labels_drawn : {"random", "chosen", "unknown"} or array, default "unknown"
        How the labelled nodes were found, as in :meth:`GPGCClassifier.expected_accuracy`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> chain = (np.arange(5), np.arange(1, 6))
    >>> model = GPGCClassifier().fit(None, ["a", "a", None, None, "b", "b"], adjacency=chain)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(model, Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").read_text()[:15]
    '<!doctype html>'
    """
    page = report_page(model, ids=ids, texts=texts, title=title, labels_drawn=labels_drawn)
    write_file(Path(path), page.encode())


def report_page(
    model: GPGCClassifier,
    *,
    ids: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    title: str = "gpgc",
    labels_drawn: Any = "unknown",
) -> str:
    """Return the page of :func:`write_report` as text; ids, labels and texts are escaped."""
    answers = Answers.of(model)
    n_nodes = len(answers.codes)
    names = [str(node) for node in range(n_nodes)] if ids is None else list(map(str, ids))
    for given, what in ((names, "ids"), (texts, "texts")):
        if given is not None and len(given) != n_nodes:
            raise InputError(f"{what} must be one for each of {n_nodes} nodes, got {len(given)}")
    sections = (
        _summary(model, answers, labels_drawn),
        _classes(model, answers),
        _confidence(answers),
        _map(model, answers, names),
        _suspicious(model, names, texts),
        _next(model, answers, names, texts),
        _reliability(model),
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{escape(title)}</h1>{''.join(sections)}"
        f"<footer>Made by gpgc {gpgc.__version__}.</footer></main></body></html>\n"
    )


def _summary(model: GPGCClassifier, answers: Answers, labels_drawn: Any) -> str:
    hidden = ~answers.given
    expected = answers.probability[hidden].mean() if hidden.any() else np.nan
    expected_accuracy = model.expected_accuracy(labels_drawn)
    views = ", ".join(f"{name} {weight:.0%}" for name, weight in model.view_weights_.items())
    facts = {
        "nodes": f"{len(hidden):,}",
        "edges": f"{model.adjacency_.nnz // 2:,}",
        "classes": f"{len(model.classes_):,}",
        "labels given": f"{len(model.labelled_nodes_):,}",
        "views": views,
        "noise variance": f"{model.noise_variance_:.3g}",
        "mean probability": "–" if np.isnan(expected) else f"{expected:.0%}",
        "accuracy to expect": _accuracy(expected_accuracy),
    }
    cells = "".join(
        f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in facts.items()
    )
    said = [f"Approximate: {phrase}." for phrase in model.approximations_]
    if expected_accuracy.reason is not None:
        said.append(f"The accuracy to expect is unknown: {expected_accuracy.reason}.")
    notes = "".join(f"<p class=note>{escape(phrase)}</p>" for phrase in said)
    return f"<section><dl>{cells}</dl>{notes}</section>"


def _accuracy(expected: ExpectedAccuracy) -> str:
    if expected.estimate is None:
        return "unknown"
    return f"{expected.estimate:.0%} ({expected.low:.0%} to {expected.high:.0%})"


def _classes(model: GPGCClassifier, answers: Answers) -> str:
    rows = []
    for code, name in enumerate(model.classes_):
        found = ~answers.given & (answers.codes == code)
        mean = f"{answers.probability[found].mean():.0%}" if found.any() else "–"
        rows.append(
            (
                f"{legend_mark(code)}{_text(name)}",
                f"{(model.codes_ == code).sum():,}",
                f"{found.sum():,}",
                mean,
            )
        )
    return _section("Classes", _table(("class", "given", "predicted", "mean probability"), rows))


def _confidence(answers: Answers) -> str:
    top = answers.probability[~answers.given]
    if not len(top):
        return ""
    said = ", ".join(f"{(top >= level).mean():.0%} above {level:.0%}" for level in (0.5, 0.8, 0.95))
    return _section(
        "Confidence",
        f"<p>Of the unlabelled nodes {said}.</p><div class=square>{histogram(top)}</div>",
    )


def _map(model: GPGCClassifier, answers: Answers, names: Sequence[str]) -> str:
    n_nodes = len(names)
    drawn = None
    note = "Colour: class. Paler: less certain. With a rim: given."
    if n_nodes > MAP_NODES:
        others = np.random.default_rng(0).permutation(np.flatnonzero(~answers.given))
        drawn = np.concatenate([model.labelled_nodes_, others])[:MAP_NODES]
        note += f" {MAP_NODES:,} of {n_nodes:,} nodes are drawn."
    shown = np.arange(n_nodes) if drawn is None else drawn
    titles = [
        f"{_short(names[node])}: {answers.labels[node]}, {probability:.0%}"
        for node, probability in zip(shown.tolist(), answers.probability[shown], strict=True)
    ]
    picture = map_of_nodes(
        positions_of(model, drawn),
        answers.codes[shown],
        answers.opacity[shown],
        answers.given[shown],
        titles,
    )
    return _section("Map", f"<p class=note>{note}</p><div class=map>{picture}</div>")


def _suspicious(model: GPGCClassifier, names: Sequence[str], texts: Any) -> str:
    found = model.check_labels()
    doubtful = np.flatnonzero(found.probability >= SUSPICIOUS)[:SHOWN]
    said = f"Of {len(found):,} labels {found.expected_errors:.1f} are expected to be wrong."
    if not len(doubtful):
        return _section("Suspicious labels", f"<p>{said} No single one stands out.</p>")
    rows = [
        (
            _name(names, texts, found.nodes[place]),
            _text(found.given[place]),
            _text(found.likely[place]),
            f"{found.probability[place]:.0%}",
        )
        for place in doubtful
    ]
    note = f"<p class=note>{said} Worst first: look at them again.</p>"
    header = ("node", "given", "predicted from the other labels", "probability that it is wrong")
    return _section("Suspicious labels", note + _table(header, rows))


def _next(model: GPGCClassifier, answers: Answers, names: Sequence[str], texts: Any) -> str:
    if answers.given.all():
        return ""
    proba, codes = answers.probabilities, answers.codes
    rows = []
    for node in model.suggest(SHOWN // 2).nodes:
        first = codes[node]
        second = [code for code in np.argsort(-proba[node])[:2] if code != first][:1]
        or_else = "".join(f", or {_text(model.classes_[code])}" for code in second)
        rows.append(
            (
                _name(names, texts, node),
                f"{_text(model.classes_[first])} ({proba[node, first]:.0%}){or_else}",
            )
        )
    note = "<p class=note>The labels that would help most, each given those above it.</p>"
    return _section("What to label next", note + _table(("node", "current prediction"), rows))


def _reliability(model: GPGCClassifier) -> str:
    note = (
        "<p class=note>Each label is left out in turn and predicted from the others. Honest where "
        "labels were drawn at random; labels that were chosen because they help most are hard "
        "ones, and come out worse than the rest of the graph.</p>"
    )
    curve = reliability_curve(model.reliability(n_bins=5))
    return _section("Reliability by leave-one-out", f"{note}<div class=square>{curve}</div>")


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _name(names: Sequence[str], texts: Any, node: int) -> str:
    shown = f"<b>{_text(names[node])}</b>"
    return shown if texts is None else f"{shown}<br>{_text(texts[node])}"


def _text(value: object) -> str:
    return escape(_short(str(value)))


def _short(text: str) -> str:
    return text if len(text) <= TEXT_LENGTH else f"{text[:TEXT_LENGTH]}…"
