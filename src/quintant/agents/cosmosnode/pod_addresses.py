"""Addresses in configuration files of a node, as they have to be on the embedded node. Pure.

Pods share the machine's loopback there: a program that listens on every address would be in the way
of its siblings, and one that is not of Python cannot ask the cluster for the names of Services. So
`tcp://0.0.0.0:26657` and `:26660` become the pod's address, names in lists of peers addresses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_LISTEN = re.compile(r"(?P<scheme>[a-z0-9+]+://)?(?:0\.0\.0\.0|\[::\])?:(?P<port>[0-9]{1,5})")
_DIAL = re.compile(
    r"(?P<before>(?:[^@,]*@|[a-z0-9+]+://)?)(?P<host>[^@:/,\s]+):(?P<port>[0-9]{1,5})"
)
_LISTS = frozenset(("persistent_peers", "seeds", "bootstrap_peers", "rpc_servers"))
_PROFILER = "pprof_laddr"
"""Of debugging, on a port that every node would take."""

Resolve = Callable[[str, int], "tuple[str, int] | None"]
"""Where a host's port is; None if the cluster does not know it."""


def rewrite_addresses(table: Mapping[str, Any], address: str, resolve: Resolve) -> dict[str, Any]:
    """A document with addresses of this pod and of Services."""
    return {key: _value(key, value, address, resolve) for key, value in table.items()}


def _value(key: str, value: Any, address: str, resolve: Resolve) -> Any:
    if isinstance(value, Mapping):
        return rewrite_addresses(value, address, resolve)
    if not isinstance(value, str):
        return value
    name = key.replace("-", "_")
    if name == _PROFILER:
        return ""
    if name in _LISTS:
        return ",".join(_resolved(each, resolve) for each in value.split(",") if each.strip())
    return _listening(value, address)


def _listening(value: str, address: str) -> str:
    found = _LISTEN.fullmatch(value)
    return f"{found['scheme'] or ''}{address}:{found['port']}" if found else value


def _resolved(peer: str, resolve: Resolve) -> str:
    found = _DIAL.fullmatch(peer.strip())
    address = resolve(found["host"], int(found["port"])) if found else None
    return f"{found['before']}{address[0]}:{address[1]}" if found and address else peer.strip()
