"""net.OpError: why a connection was not made, as Go says it."""

from __future__ import annotations


def connect_error(host: str, port: int | str, cause: OSError) -> str:
    """What became of an attempt to connect with an address."""
    if isinstance(cause, TimeoutError):
        return f"dial tcp {host}:{port}: i/o timeout"
    return f"dial tcp {host}:{port}: connect: {_plain(cause)}"


def _plain(cause: OSError) -> str:
    if isinstance(cause, ConnectionRefusedError):
        return "connection refused"
    return (cause.strerror or str(cause)).lower()
