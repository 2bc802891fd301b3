"""net.OpError, tls.alert: why a connection was not made, as Go says it."""

from __future__ import annotations

import ssl


def connect_error(host: str, port: int | str, cause: OSError) -> str:
    """What became of an attempt to connect with an address."""
    if isinstance(cause, TimeoutError):
        return f"dial tcp {host}:{port}: i/o timeout"
    return f"dial tcp {host}:{port}: connect: {_plain(cause)}"


def tls_error(cause: OSError) -> str:
    """Why TLS does not stand."""
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {cause.verify_message}"
    if isinstance(cause, ssl.SSLError) and cause.reason == "WRONG_VERSION_NUMBER":
        return "http: server gave HTTP response to HTTPS client"
    if isinstance(cause, TimeoutError | ConnectionAbortedError):
        return "net/http: TLS handshake timeout"
    return "EOF" if isinstance(cause, ConnectionError) else f"tls: {cause}"


def _plain(cause: OSError) -> str:
    if isinstance(cause, ConnectionRefusedError):
        return "connection refused"
    return (cause.strerror or str(cause)).lower()
