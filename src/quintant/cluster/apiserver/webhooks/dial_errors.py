"""ErrCallingWebhook: why a webhook did not answer, in the words of a real server.

They are Go's, and shown to whoever asked for the change.
"""

from __future__ import annotations

import socket
import ssl

from quintant.client.http import dial
from quintant.cluster.apiserver.golang.net_errors import connect_error
from quintant.cluster.apiserver.golang.x509_errors import UntrustedCertificate
from quintant.cluster.apiserver.webhooks.connection import WebhookAddress
from quintant.http.client_connection import ConnectionBroken, ResponseTooLarge
from quintant.http.head import ProtocolError

FAILURES = (
    ConnectionBroken,
    ProtocolError,
    ResponseTooLarge,
    UntrustedCertificate,
    dial.ServerUnreachable,
)
"""All that a line raises beside a time-out."""

_HALF = "unexpected error when reading response body. Please retry. Original error: unexpected EOF"
# What OpenSSL calls an answer that is not TLS; it is HTTP, as good as always.
_NO_TLS = "WRONG_VERSION_NUMBER"
_X509 = "tls: failed to verify certificate: x509"
# What OpenSSL says of certificates whose signer is not known, by its number.
_UNKNOWN_CODES = frozenset({2, 18, 19, 20, 21})
_EXPIRED_CODE = 10


def explain_dial_error(error: Exception, url: str, address: WebhookAddress) -> str:
    """What is told of one of `FAILURES`: the reason, and where it was met."""
    if isinstance(error, ConnectionBroken) and error.begun:
        return _HALF
    return f'Post "{url}": {_reason(error, address)}'


def _reason(error: Exception, address: WebhookAddress) -> str:
    match error:
        case UntrustedCertificate():
            return f"{_X509}: {error}"
        case dial.ServerUnreachable(cause=ssl.SSLError() as cause):
            return _untrusted(cause, address)
        case dial.ServerUnreachable(cause=socket.gaierror()):
            return f"dial tcp: lookup {address.host}: no such host"
        case ConnectionBroken() | dial.ServerUnreachable(cause=ConnectionResetError()):
            return "EOF"
        case dial.ServerUnreachable(cause=cause):
            return connect_error(address.host, address.port, cause)
        case ResponseTooLarge(most=most):
            return f"the answer is larger than {most} bytes"
    return "net/http: HTTP/1.x transport connection broken: malformed HTTP response"


def _untrusted(cause: ssl.SSLError, address: WebhookAddress) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _unverified(cause, address)
    if cause.reason == _NO_TLS:
        return "http: server gave HTTP response to HTTPS client"
    return str(cause)


def _unverified(cause: ssl.SSLCertVerificationError, address: WebhookAddress) -> str:
    if cause.verify_code in _UNKNOWN_CODES:
        return f"{_X509}: certificate signed by unknown authority"
    if cause.verify_code == _EXPIRED_CODE:
        return f"{_X509}: certificate has expired or is not yet valid"
    if "mismatch" in cause.verify_message.lower():
        wanted = f"certificate is not valid for any names, but wanted to match {address.name}"
        return f"{_X509}: {wanted}"
    return f"{_X509}: {cause.verify_message}"
