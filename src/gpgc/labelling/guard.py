"""Who may talk to the page's server: nobody but the browser that was given the token."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

MAX_BODY = 64 * 1024

UNKNOWN = (
    "This browser is not known to the server, which may have been started again: "
    "open the new address that gpgc label printed."
)

POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
SAFE_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def new_token() -> str:
    """Return a fresh secret of 24 random bytes."""
    return secrets.token_urlsafe(24)


def session_id(token: str, port: int) -> str:
    """Return what a browser's cookie holds: made of the token, which it does not give away.

    A browser sends its cookies to every port of this machine. The same token on the same port
    makes the same id, so that open tabs go on after a restart.

    Examples
    --------
    >>> session_id("a", 1) == session_id("a", 1), session_id("a", 1) == session_id("a", 2)
    (True, False)
    """
    return hmac.new(token.encode(), f"gpgc label {port}".encode(), sha256).hexdigest()


class Guard:
    """An ASGI layer around the routes that refuses what does not come from our own page.

    In this order: the host must be this machine's (a page whose name was rebound to 127.0.0.1
    shows another), the origin ours where one is sent, paths plain, the token known, and what is
    posted JSON of at most 64 kB.

    Parameters
    ----------
    app : ASGI application
        The routes.
    port : int
        Where the server listens.
    token : str
        The secret in the address that was printed.
    """

    def __init__(self, app: Any, port: int, token: str) -> None:
        self._app, self._port, self._token = app, port, token
        self._cookie, self._session_id = f"gpgc-{port}", session_id(token, port)
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refuse(scope)
        if refusal is not None:
            await refusal(scope, receive, send_safely)
        elif scope["method"] == "POST":
            await self._post(scope, receive, send_safely)
        else:
            await self._app(scope, receive, send_safely)

    def _refuse(self, scope: Message) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return _sentence(400, "This server answers to 127.0.0.1 and localhost only.")
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://").lower() not in self._hosts:
            return _sentence(403, "Requests from other pages are refused.")
        raw = bytes(scope.get("raw_path") or b"").lower()
        if any(mark in raw for mark in (b"..", b"%2e", b"%2f", b"%5c", b"\\", b"%00", b"//")):
            return _sentence(404, "There is nothing here.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _sentence(405, "Only GET and POST are answered.")
        asked = parse_qs(bytes(scope.get("query_string") or b"").decode("latin-1"))
        if scope["path"] == "/" and _is_same(asked.get("token", [""])[0], self._token):
            by = clean_name(asked.get("by", [""])[0])
            target = f"/?{urlencode({'by': by})}" if by else "/"
            answer = RedirectResponse(target, status_code=303)
            answer.set_cookie(self._cookie, self._session_id, httponly=True, samesite="strict")
            return answer
        if not _is_same(_cookie(headers.get("cookie", ""), self._cookie), self._session_id):
            if scope["path"] in ("/", "/favicon.ico"):
                return _sentence(401, UNKNOWN)
            return JSONResponse({"problem": UNKNOWN}, status_code=401)
        return None

    async def _post(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass on a small JSON body, whole."""
        headers = Headers(scope=scope)
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            await _sentence(415, "Only JSON is taken.")(scope, receive, send)
            return
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            if len(body) > MAX_BODY:
                await _sentence(413, "At most 64 kB are taken.")(scope, receive, send)
                return
            if not message.get("more_body"):
                break
        scope["gpgc.body"] = body
        await self._app(scope, receive, send)


def clean_name(name: Any) -> str:
    r"""Return the name of a person as it is shown and written down.

    Examples
    --------
    >>> clean_name(" Anna Maria\n")
    'Anna Maria'
    """
    return "".join(letter for letter in str(name)[:40] if letter.isprintable()).strip()


def _is_same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _sentence(status: int, text: str) -> Response:
    return PlainTextResponse(text, status_code=status)


def _cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
