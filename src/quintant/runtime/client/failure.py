"""What aiohttp's errors mean, in our own: which error to raise, and what to tell a person.

Texts are made here from what we know of the call and the server; those of the library can carry
request headers, and with them credentials.
"""

from __future__ import annotations

import errno
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import aiohttp

from quintant.runtime import errors
from quintant.runtime.client import trust
from quintant.runtime.client.config import Config
from quintant.runtime.client.transport import Call
from quintant.runtime.errors import ConnectError, DeadlineExceeded, StreamStalled, TransportError

# aiohttp repeats these by itself, once, when a connection breaks before an answer.
REPEATED_BELOW = frozenset(("GET", "HEAD", "OPTIONS", "PUT", "DELETE"))


def explained(error: Exception, call: Call, config: Config) -> TransportError:
    """The error to raise for a request that got no answer."""
    host = urlsplit(config.server).netloc
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return ConnectError(_text(call, f"{host} did not accept a connection in time"))
    if isinstance(error, TimeoutError):
        return DeadlineExceeded(f"{call}: no answer in time")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        why = f"the proxy refused to connect to {host}: {error.status} {error.message}"
        return ConnectError(_text(call, why, "check proxy-url and HTTPS_PROXY"))
    if isinstance(error, aiohttp.ClientResponseError):
        return ConnectError(_text(call, f"{host} sent something that is not HTTP"))
    handshake = next((one for one in _causes(error) if _from_tls(one)), None)
    if isinstance(handshake, ssl.SSLError):
        return ConnectError(_text(call, *trust.explain(handshake, host)))
    if isinstance(error, aiohttp.ClientConnectorError):
        return ConnectError(_text(call, *_unreachable(error, host)))
    return ConnectError(_text(call, f"the connection to {host} broke before the whole answer"))


def in_stream(error: Exception, call: Call) -> TransportError:
    """The error to raise for a stream that broke."""
    if any(getattr(cause, "errno", None) == errno.ETIMEDOUT for cause in _causes(error)):
        return StreamStalled(f"{call}: the server no longer acknowledges what we send")
    return ConnectError(f"{call}: the connection broke")


def stale(error: Exception, method: str) -> bool:
    """Whether a connection broke before an answer in a way that aiohttp itself did not repeat."""
    if isinstance(error, aiohttp.ClientConnectionResetError):
        return True
    broke = isinstance(error, (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError))
    never = isinstance(error, (aiohttp.ClientConnectorError, TimeoutError))
    return broke and not never and method not in REPEATED_BELOW


def _unreachable(error: aiohttp.ClientConnectorError, host: str) -> tuple[str, str]:
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return f"the proxy cannot be reached: {_reason(error)}", "check proxy-url and HTTPS_PROXY"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"{host} has no address", "check server in the kubeconfig, and the network"
    return f"{host} cannot be reached: {_reason(error)}", "check that the cluster is running"


def _reason(error: aiohttp.ClientConnectorError) -> str:
    return error.os_error.strerror or str(error.os_error) or "no reason given"


def _from_tls(error: BaseException) -> bool:
    """Whether this is OpenSSL's own error; aiohttp has some that only look like it."""
    return isinstance(error, ssl.SSLError) and not isinstance(error, aiohttp.ClientError)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        inner = getattr(error, "os_error", None) or getattr(error, "certificate_error", None)
        error = inner if inner is not None and inner is not error else error.__cause__


def _text(call: Call, why: str, hint: str = "") -> str:
    return errors.explained(f"{call} failed", why, hint)
