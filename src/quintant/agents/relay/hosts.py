"""From the Host of a request to what it is for: an app, the relay itself, or nothing here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from quintant.http.head import ProtocolError, RequestHead

APEX = ""
"""What `app_of` says of the relay's own name."""
_HOST = re.compile(rb"([A-Za-z0-9.\-_]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""What an app may be called."""


def host_of(head: RequestHead) -> str:
    """The one host that a request is for, in lower case, without port and last dot."""
    hosts = head.all(b"host")
    found = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if found is None:
        raise ProtocolError(400, "not exactly one Host")
    return found.group(1).decode().lower().removesuffix(".")


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
    return target[target.index(parts.netloc) + len(parts.netloc) :] or b"/"


def app_of(host: str, domains: Sequence[str]) -> str | None:
    """The app of a host, APEX for a served domain itself, None if it is not served here."""
    for domain in domains:
        if host == domain:
            return APEX
        label, _, parent = host.partition(".")
        if parent == domain and LABEL.fullmatch(label):
            return label
    return None
