"""As much of HTTP as the dashboard needs: GET requests, answers that nobody keeps, and streams of events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

MOST_REQUEST = 8192  # bytes
REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed"}
REASONS |= {421: "Misdirected Request", 503: "Service Unavailable"}
# Nothing that a browser is given may be kept, framed, guessed at, or read by another site's pages.
ALWAYS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
NOTHING = "default-src 'none'; frame-ancestors 'none'"


class BadRequest(Exception):
    """A request that is not answered as it wishes; says the status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class Request:
    """A GET request."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


def read(data: bytes) -> Request:
    r"""A request from its bytes, up to the empty line.

    >>> read(b"GET /job?app=7 HTTP/1.1\r\nHost: localhost\r\n\r\n").query
    {'app': '7'}
    """
    try:
        first, *lines = data.decode("ascii").split("\r\n")
        method, target, version = first.split(" ")
        headers = {}
        for line in lines:
            if line:
                name, colon, value = line.partition(":")
                if not colon or name.lower() in headers:
                    raise ValueError
                headers[name.lower()] = value.strip()
        address = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(address.query, max_num_fields=8).items()}
    except ValueError:
        raise BadRequest(400, "this is no request that is understood here") from None
    if method not in ("GET", "HEAD") or not version.startswith("HTTP/1."):
        raise BadRequest(405, "there is only looking here: GET")
    return Request(unquote(address.path), query, headers)


def check(request: Request, hosts: Iterable[str]) -> None:
    """Refuse what another site made a browser send: a name that is not ours, or a page that is not ours.

    A site can have its own name resolved to this host's address; then the browser says that name, and it is refused.
    """
    name = host_name(request.headers.get("host", ""))
    if name not in hosts:
        raise BadRequest(421, "this host does not go by that name here; --host NAME lets a further one in")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise BadRequest(403, "another site may not ask")


def host_name(header: str) -> str:
    """The name in a Host header, without the port.

    >>> host_name("localhost:8440"), host_name("[::1]:8440")
    ('localhost', '[::1]')
    """
    name, colon, port = header.lower().rpartition(":")
    return name if colon and port.isdigit() else header.lower()


def answer(body: str, kind: str = "text/plain", status: int = 200, policy: str = NOTHING) -> bytes:
    """A whole answer."""
    data = body.encode()
    headers = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(data)), "Connection": "close"}
    return _head(status, headers, policy) + data


def as_json(told: Any) -> bytes:
    """An answer for the page's script."""
    return answer(json.dumps(told), "application/json")


def refusal(error: BadRequest) -> bytes:
    """Why there is no answer."""
    return answer(f"{error}\n", status=error.status)


def stream() -> bytes:
    """The beginning of a stream of events."""
    return (
        _head(200, {"Content-Type": "text/event-stream; charset=utf-8", "Connection": "close"}, NOTHING)
        + b"retry: 1000\n\n"
    )


def event(kind: str, told: Any) -> bytes:
    """One event of a stream; JSON has no line breaks."""
    return f"event: {kind}\ndata: {json.dumps(told)}\n\n".encode()


def _head(status: int, headers: Mapping[str, str], policy: str) -> bytes:
    every = {**headers, **ALWAYS, "Content-Security-Policy": policy}
    lines = "".join(f"{name}: {value}\r\n" for name, value in every.items())
    return f"HTTP/1.1 {status} {REASONS[status]}\r\n{lines}\r\n".encode()
