"""From the Host of a request to what it is for: an app, the relay itself, or nothing here."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit

from quintant.http.head import ProtocolError, RequestHead

REMEMBERED = 1024
"""Hosts that are not read again: each is on every request of its visitors."""
LONGEST = 261
"""Bytes of a host that is remembered: no name with a port is longer."""
APEX = ""
"""What `requested_app` says of the relay's own name."""
_HOST = re.compile(rb"([A-Za-z0-9.\-_]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""What an app may be called."""


def requested_app(head: RequestHead, domains: tuple[str, ...]) -> str | None:
    """The app that a request is for, APEX for a served domain itself, None if it is not served
    here. ProtocolError without exactly one Host."""
    host = head.index.get(b"host")
    if not isinstance(host, bytes):
        raise ProtocolError(400, "not exactly one Host")
    return (_known_app if len(host) <= LONGEST else _app)(host, domains)


def _app(field: bytes, domains: tuple[str, ...]) -> str | None:
    found = _HOST.fullmatch(field)
    if found is None:
        raise ProtocolError(400, "not exactly one Host")
    # In lower case, without port and last dot.
    host = found.group(1).decode().lower().removesuffix(".")
    for domain in domains:
        if host == domain:
            return APEX
        label, _, parent = host.partition(".")
        if parent == domain and LABEL.fullmatch(label):
            return label
    return None


_known_app = lru_cache(REMEMBERED)(_app)


def target_of(head: RequestHead) -> bytes:
    """The path of a request; an absolute one must agree with its Host."""
    target = head.target
    if target.startswith(b"/") or (target == b"*" and head.method == b"OPTIONS"):
        return target
    if head.method == b"CONNECT":
        raise ProtocolError(405, "this is not a forward proxy")
    try:
        parts = urlsplit(target)
    except ValueError:
        raise ProtocolError(400, "a target that is no URL") from None
    if parts.scheme not in (b"http", b"https") or [parts.netloc] != head.all(b"host"):
        raise ProtocolError(400, "a target that does not agree with the Host")
    path = target[len(parts.scheme) + len(b"://") + len(parts.netloc) :]
    return path if path.startswith(b"/") else b"/" + path
