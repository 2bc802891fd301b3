"""Patience with an API server."""

from __future__ import annotations

from quintant.runtime.client.transport import Call

_REPEATABLE = frozenset(("GET", "HEAD", "PUT", "DELETE"))


def repeatable(call: Call) -> bool:
    """Whether sending a call twice does no harm."""
    return call.idempotent or call.method in _REPEATABLE
