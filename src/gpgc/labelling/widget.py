"""The page as a notebook widget: the same view, answered by the kernel."""

from __future__ import annotations

import base64
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from gpgc.errors import DataError, InputError
from gpgc.estimators import GPGCClassifier
from gpgc.labelling.desk import Desk, routes
from gpgc.labelling.export import export
from gpgc.labelling.items import Picture

PAGE = Path(__file__).parent / "page"
_IMPORT = re.compile(r'from "\./(\w+\.js)"')


def bundle(name: str) -> str:
    """Return a module of the page with those that it imports inside it, as a notebook needs it."""

    def inside(found: re.Match[str]) -> str:
        code = base64.b64encode(bundle(found[1]).encode()).decode()
        return f'from "data:text/javascript;base64,{code}"'

    return _IMPORT.sub(inside, (PAGE / name).read_text(encoding="utf-8"))


class LabelWidget(anywidget.AnyWidget):
    """A labelling session in a notebook; see :func:`gpgc.label`."""

    _esm = bundle("widget.js")
    _css = (PAGE / "style.css").read_text(encoding="utf-8")
    by = traitlets.Unicode("").tag(sync=True)

    def __init__(self, desk: Desk, by: str = "") -> None:
        super().__init__(by=by)
        self._desk, self._questions = desk, routes(desk)
        self._workers = ThreadPoolExecutor(4, thread_name_prefix="gpgc-widget")
        self._silence = desk.session.listen(self._tell)
        self.on_msg(lambda _, message, buffers: self._workers.submit(self._answer, message))

    @property
    def labels(self) -> dict[str, str]:
        """The label of each labelled node, by its id."""
        return {name: given.label for name, given in self._desk.session.ledger.labels.items()}

    def estimator(self) -> GPGCClassifier:
        """Return the classifier on all labels given, those of random items included."""
        session = self._desk.session
        if not session.ledger.labels:
            raise InputError("a classifier needs at least one label, got none so far")
        known = {session.index[name]: label for name, label in self.labels.items()}
        return session.live.fit(known).result()

    def export(self, name: str) -> bytes:
        """Return labels.csv, predictions.csv, model.gpgc or journal.jsonl."""
        return export(self._desk.session, name)

    def close(self) -> None:
        """End the session; the journal stays."""
        self._silence()
        self._desk.session.close()
        super().close()

    def _tell(self, what: str) -> None:
        self.send({"news": what, "about": self._desk.about([what])})

    def _answer(self, message: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"id": message.get("id"), "ok": True, "status": 200}
        buffers: list[bytes] = []
        try:
            found = self._ask(str(message.get("route")), dict(message.get("args") or {}))
        except (InputError, DataError, ValueError) as error:
            reply |= {"ok": False, "status": 400, "body": {"problem": str(error)}}
        except OSError as error:
            reply |= {"ok": False, "status": 507, "body": {"problem": str(error)}}
        else:
            if isinstance(found, Picture):
                reply |= {"ok": not found.problem, "kind": found.kind}
                reply |= {"body": {"problem": found.problem}}
                buffers = [found.content]
            elif isinstance(found, bytes):
                buffers = [found]
            else:
                reply |= {"body": found}
        self.send(reply, buffers)

    def _ask(self, route: str, asked: dict[str, Any]) -> Any:
        if route == "events":
            return self._desk.record(asked, self.by)
        if route == "export":
            return self.export(str(asked.get("name")))
        if route not in self._questions:
            raise InputError(f"route must be a known question, got {route!r:.40}")
        return self._questions[route](asked, self.by)
