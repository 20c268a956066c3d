"""The page's server: static files, questions and answers, and news as they happen."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from socket import gethostname
from typing import Any
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from gpgc.errors import DataError, InputError
from gpgc.labelling.desk import Desk, routes
from gpgc.labelling.events import ConflictError, UnknownClassError
from gpgc.labelling.export import NAMES, export
from gpgc.labelling.guard import LOOPBACK, Guard, clean_name, new_token, token_of
from gpgc.labelling.items import Picture

PAGE = Path(__file__).parent / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
HEARTBEAT = 15.0
TURN = 0.001
"""Seconds that the model computes in Python before a question that waits has its turn."""


def page_files() -> dict[str, bytes]:
    """Return the page's files by name; the first asks for all modules at once."""
    files = {path.name: path.read_bytes() for path in PAGE.iterdir() if path.suffix in TYPES}
    modules = [name for name in sorted(files) if name.endswith(".js") and name != "widget.js"]
    wanted = "".join(f'<link rel="modulepreload" href="/static/{name}" />' for name in modules)
    return files | {
        "index.html": files["index.html"].replace(b"</head>", wanted.encode() + b"</head>")
    }


def application(desk: Desk, port: int, people: Mapping[str, str], host: str = LOOPBACK) -> Guard:
    """Return the server's routes behind their guard, as an ASGI application."""
    questions, files = routes(desk), page_files()

    def ask(name: str) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            asked = {**request.query_params, **request.path_params}
            by = request.scope["gpgc.by"] or clean_name(asked.get("by", ""))
            return _answer(lambda: questions[name](asked, by))

        return answer

    async def record(request: Request) -> Response:
        try:
            event = json.loads(request.scope["gpgc.body"])
        except (ValueError, RecursionError):
            return _problem(400, "The body must be JSON.")
        if not isinstance(event, dict):
            return _problem(400, "The body must be a JSON object.")
        by = request.scope["gpgc.by"] or clean_name(event.get("by", ""))
        return await run_in_threadpool(_answer, lambda: desk.record(event, by))

    def download(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in NAMES:
            return _problem(404, "There is nothing here.")
        answer = _answer(lambda: export(desk.session, name))
        answer.headers["content-disposition"] = f'attachment; filename="{name}"'
        return answer

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in files:
            return _problem(404, "There is nothing here.")
        return Response(files[name], media_type=TYPES[Path(name).suffix])

    async def news(request: Request) -> Response:
        return StreamingResponse(_news(desk, request), media_type="text/event-stream")

    about_all = ("session", "next", "estimate", "history", "search", "layout", "colours")
    about_one = ("item", "near", "edges", "brief")
    about_groups = ("group", "sure", "review", "people")
    return Guard(
        Starlette(
            routes=[
                Route("/", page),
                Route("/static/{name}", page),
                *(Route(f"/api/{name}", ask(name)) for name in (*about_all, *about_groups)),
                *(Route(f"/api/{name}/{{item}}", ask(name)) for name in about_one),
                *(Route(f"/item/{{item}}/{name}", ask(name)) for name in ("image", "thumbnail")),
                Route("/api/events", record, methods=["POST"]),
                Route("/export/{name}", download),
                Route("/events", news),
            ]
        ),
        port,
        people,
        host,
    )


class Server:
    """A server for one session, on 127.0.0.1 unless another host is asked for."""

    def __init__(
        self,
        desk: Desk,
        port: int = 0,
        token: str | None = None,
        people: Sequence[str] = (),
        host: str = LOOPBACK,
    ) -> None:
        if token is not None and not (len(token) >= 16 and token.replace("-", "").isalnum()):
            raise InputError(
                "GPGC_TOKEN must be at least 16 letters and digits, got fewer or others"
            )
        self._desk = desk
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
            self._socket.listen(128)
        except OSError as error:
            self._socket.close()
            name, got = ("--port", port) if host == LOOPBACK else ("--host", host)
            wanted = "free" if host == LOOPBACK else "an address of this machine with a free port"
            raise InputError(f"{name} must be {wanted}, got {got}: {error.strerror}") from error
        self.port = int(self._socket.getsockname()[1])
        token = token or new_token()
        several = {token_of(token, name): name for name in people if len(people) > 1}
        known = several or {token: ""}
        shown = gethostname() if host == "0.0.0.0" else host
        by = f"&{urlencode({'by': people[0]})}" if len(people) == 1 else ""
        self.urls = {
            name: f"http://{shown}:{self.port}/?token={secret}{by}"
            for secret, name in known.items()
        }
        config = uvicorn.Config(
            application(desk, self.port, known, host),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=1,
            server_header=False,
        )
        self._server = _StoppingServer(config, desk)

    def run(self) -> None:
        """Serve until interrupted."""
        sys.setswitchinterval(TURN)
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Ask the server to end, from another thread."""
        self._desk.session.announce("stopping")
        self._server.should_exit = True


class _StoppingServer(uvicorn.Server):
    """Tells open tabs that it stops before it does."""

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to stop."""
        self._desk.session.announce("stopping")
        super().handle_exit(sig, frame)


async def _news(desk: Desk, request: Request) -> AsyncIterator[str]:
    """Give the names of what is new, several at once as one, until the session stops."""
    loop, wake = asyncio.get_running_loop(), asyncio.Event()
    pending: dict[str, None] = {"hello": None}

    def hear(what: str) -> None:
        def add() -> None:
            pending[what] = None
            wake.set()

        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(add)

    wake.set()
    silence = desk.session.listen(hear)
    try:
        while True:
            try:
                await asyncio.wait_for(wake.wait(), HEARTBEAT)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            wake.clear()
            names = list(pending)
            pending.clear()
            about = json.dumps(desk.about(names))
            for name in names:
                yield f"event: {name}\ndata: {about}\n\n"
            if "stopping" in names:
                return
    finally:
        silence()


def _answer(ask: Callable[[], Any]) -> Response:
    """Return an answer, or the sentence that says what was wrong with the question."""
    try:
        found = ask()
    except (UnknownClassError, ConflictError) as error:
        return _problem(409, str(error))
    except (InputError, DataError) as error:
        return _problem(400, str(error))
    except ValueError:
        return _problem(400, "That is no question that this server can answer.")
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return _problem(507, "The disk is full; the label was not saved.")
        return _problem(500, f"The label was not saved: {error.strerror}.")
    if isinstance(found, Picture):
        if found.problem:
            return PlainTextResponse(found.problem, status_code=422)
        safe = {"content-security-policy": "default-src 'none'; sandbox"}
        return Response(found.content, media_type=found.kind, headers=safe)
    if isinstance(found, bytes):
        return Response(found, media_type="application/octet-stream")
    return JSONResponse(found)


def _problem(status: int, text: str) -> Response:
    return JSONResponse({"problem": text}, status_code=status)
