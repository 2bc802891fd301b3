"""httputil.ReverseProxy: what is passed on of a head, and what belongs to one hop alone. Pure.

What proves to the server who asks is never passed on: neither tokens nor whom a user stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from quintant.http.encode_request import header_line
from quintant.http.head import Head, ResponseHead

_HOP = frozenset(
    (
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    )
)  # fmt: skip
_FRAMING = frozenset({"content-length", "expect", "host", "transfer-encoding"})
"""What is said anew on the next connection."""
_ACCESS = ("authorization", "x-remote-user", "x-remote-uid", "x-remote-group")
_ACCESS_PREFIXES = ("impersonate-", "x-remote-extra-")
_CORS = frozenset(
    f"access-control-allow-{name}" for name in ("credentials", "headers", "methods", "origin")
)
"""A pod must not let pages of others read what a user's session with the server gets."""
FORWARDED_FOR = "x-forwarded-for"


def request_lines(
    headers: Mapping[str, str],
    client: str,
    more: Sequence[tuple[str, str]],
    *,
    upgrade: bool = False,
) -> str:
    """The fields of a request that are passed on, as lines, and those that the proxy adds."""
    dropped = _FRAMING | (frozenset() if upgrade else _HOP | _named(headers.get("connection", "")))
    passed = {
        name: value
        for name, value in headers.items()
        if name not in dropped and not _proves(name) and value.isprintable()
    }
    if client:
        before = passed.get(FORWARDED_FOR, "")
        passed[FORWARDED_FOR] = f"{before}, {client}" if before else client
    added = {name for name, _ in more}
    kept = [each for each in passed.items() if each[0] not in added]
    return "".join(header_line(name, value) for name, value in (*kept, *more))


def response_fields(head: ResponseHead, *, upgrade: bool = False) -> list[tuple[str, str]]:
    """The fields of a response that are passed on, in order and as often as they are there."""
    dropped = _CORS | {"content-length", "date", "connection"}
    if not upgrade:
        dropped |= _HOP | {word.decode("ascii", "replace") for word in head.connection}
    return [(name, value) for name, value in _fields(head) if name not in dropped]


def joined(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Fields as a mapping: values of one name behind each other."""
    found: dict[str, str] = {}
    for name, value in fields:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _fields(head: Head) -> Iterator[tuple[str, str]]:
    for name, value in head.fields:
        yield name.decode("ascii").lower(), value.decode("utf-8", "surrogateescape")


def _named(connection: str) -> frozenset[str]:
    return frozenset(each.strip().lower() for each in connection.split(","))


def _proves(name: str) -> bool:
    return name in _ACCESS or name.startswith(_ACCESS_PREFIXES)
