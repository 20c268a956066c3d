"""Who may talk to the page's server: nobody but the browser that was given the token."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from socket import gethostname
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

MAX_BODY = 64 * 1024
LOOPBACK = "127.0.0.1"

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
    """
    return hmac.new(token.encode(), f"gpgc label {port}".encode(), sha256).hexdigest()


class Guard:
    """An ASGI layer around the routes that refuses what does not come from our own page.

    In this order: the host must be this machine's (a page whose name was rebound to 127.0.0.1
    shows another), the origin ours where one is sent, paths plain, the token known, and what is
    posted JSON of at most 64 kB.
    """

    def __init__(
        self, app: Any, port: int, people: Mapping[str, str], host: str = LOOPBACK
    ) -> None:
        self._app, self._port, self._people = app, port, dict(people)
        self._cookie = f"gpgc-{port}"
        self._ids = {session_id(token, port): name for token, name in people.items()}
        self._hosts = {f"{LOOPBACK}:{port}", f"localhost:{port}"}
        self._is_open = host != LOOPBACK
        if self._is_open:
            self._hosts |= {f"{host.lower()}:{port}", f"{gethostname().lower()}:{port}"}

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
        if not self._is_ours(headers.get("host", "")):
            return _sentence(400, "This server answers to 127.0.0.1 and localhost only.")
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(origin.removeprefix("http://")):
            return _sentence(403, "Requests from other pages are refused.")
        raw = bytes(scope.get("raw_path") or b"").lower()
        if any(mark in raw for mark in (b"..", b"%2e", b"%2f", b"%5c", b"\\", b"%00", b"//")):
            return _sentence(404, "There is nothing here.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _sentence(405, "Only GET and POST are answered.")
        asked = parse_qs(bytes(scope.get("query_string") or b"").decode("latin-1"))
        token = _same(asked.get("token", [""])[0], self._people)
        if scope["path"] == "/" and token is not None:
            by = self._people[token] or clean_name(asked.get("by", [""])[0])
            target = f"/?{urlencode({'by': by})}" if by else "/"
            answer = RedirectResponse(target, status_code=303)
            answer.set_cookie(
                self._cookie, session_id(token, self._port), httponly=True, samesite="strict"
            )
            return answer
        known = _same(_cookie(headers.get("cookie", ""), self._cookie), self._ids)
        if known is None:
            if scope["path"] in ("/", "/favicon.ico"):
                return _sentence(401, UNKNOWN)
            return JSONResponse({"problem": UNKNOWN}, status_code=401)
        scope["gpgc.by"] = self._ids[known]
        return None

    def _is_ours(self, host: str) -> bool:
        if host.lower() in self._hosts:
            return True
        name, _, port = host.rpartition(":")
        return self._is_open and port == str(self._port) and _is_number(name)

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
    """Return the name of a person as it is shown and written down."""
    return "".join(letter for letter in str(name)[:40] if letter.isprintable()).strip()


def token_of(secret: str, name: str) -> str:
    """Return the secret of one person's address, which tells nothing of another's."""
    return hmac.new(secret.encode(), f"gpgc label {name}".encode(), sha256).hexdigest()[:32]


def _same(given: str, secrets: Iterable[str]) -> str | None:
    """Return the secret that was given, all of them compared in the same time."""
    named = given.encode("utf-8", "replace")
    found = [secret for secret in secrets if hmac.compare_digest(named, secret.encode())]
    return found[0] if found else None


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _sentence(status: int, text: str) -> Response:
    return PlainTextResponse(text, status_code=status)


def _cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
