"""Why a request got no answer: which error to raise, and what to tell a person.

Texts are made here from what we know of the call and the server; they never hold what was sent.
"""

from __future__ import annotations

import errno
import socket
import ssl
from urllib.parse import urlsplit

from quintant.client.config import tls
from quintant.client.config.config import Config
from quintant.client.http.dial import ProxyRefused, ServerUnreachable
from quintant.client.transport import ApiRequest
from quintant.core import errors
from quintant.core.errors import ConnectError, DeadlineExceeded, StreamStalled, TransportError
from quintant.http.client_connection import ConnectionBroken, ResponseTooLarge
from quintant.http.head import ProtocolError

FAILURES = (
    ConnectionBroken,
    ProtocolError,
    ProxyRefused,
    TimeoutError,
    ResponseTooLarge,
    ServerUnreachable,
)
"""All that connections raise."""


def explain_request_error(error: Exception, call: ApiRequest, config: Config) -> TransportError:
    """The error to raise for a request that got no answer."""
    host = urlsplit(config.server).netloc
    match error:
        case ServerUnreachable(cause=TimeoutError(errno=None)):
            return ConnectError(_text(call, f"{host} did not accept a connection in time"))
        case ServerUnreachable():
            return ConnectError(_text(call, *_unreachable(error, host)))
        case ProxyRefused():
            why = f"the proxy refused to connect to {host}: {error.status} {error.reason}"
            return ConnectError(_text(call, why, "check proxy-url and HTTPS_PROXY"))
        case TimeoutError():
            return DeadlineExceeded(f"{call}: no answer in time")
        case ResponseTooLarge():
            return TransportError(f"{call}: the answer is larger than {error.most} bytes")
        case ProtocolError():
            return ConnectError(_text(call, f"{host} sent something that is not HTTP"))
    return ConnectError(_text(call, f"the connection to {host} broke before the whole answer"))


def explain_stream_error(error: Exception, call: ApiRequest) -> TransportError:
    """The error to raise for a stream that broke."""
    if getattr(error.__cause__, "errno", None) == errno.ETIMEDOUT:
        return StreamStalled(f"{call}: the server no longer acknowledges what we send")
    return ConnectError(f"{call}: the connection broke")


def _unreachable(error: ServerUnreachable, host: str) -> tuple[str, str]:
    cause = error.cause
    if error.proxy:
        return f"the proxy cannot be reached: {_reason(cause)}", "check proxy-url and HTTPS_PROXY"
    if isinstance(cause, ssl.SSLError):
        return tls.explain_tls_error(cause, host)
    if isinstance(cause, socket.gaierror):
        return f"{host} has no address", "check server in the kubeconfig, and the network"
    return f"{host} cannot be reached: {_reason(cause)}", "check that the cluster is running"


def _reason(cause: OSError) -> str:
    return cause.strerror or str(cause) or "no reason given"


def _text(call: ApiRequest, why: str, hint: str = "") -> str:
    return errors.error_text(f"{call} failed", why, hint)
