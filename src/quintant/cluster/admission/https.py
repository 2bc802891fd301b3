"""Webhooks over HTTPS: one connection per review, verified against the webhook's own authorities.

Nothing is kept between reviews but the authorities that were read, so that a changed configuration
or a renewed certificate counts at once, and nothing has to be closed.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from quintant.cluster.admission.dialing import Letter, Unreachable
from quintant.runtime.client.transport import JSON, Reply

BUNDLES = 64
"""Sets of authorities kept ready: more than there are webhook servers in a cluster."""
ANSWER_BYTES = 64 * 1024 * 1024
"""Of an answer: a conversion may carry a whole list."""

_HEADERS = {
    "content-type": JSON,
    "accept": f"{JSON}, */*",
    "user-agent": "kube-apiserver-admission",
}
_UNKNOWN = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
# What OpenSSL says of certificates whose signer is not known, by its number.
_UNKNOWN_CODES = frozenset({2, 18, 19, 20, 21})
_EXPIRED_CODE = 10


class HttpsDialer:
    """Posts over HTTPS."""

    async def post(self, letter: Letter) -> Reply:
        """Post and wait; whoever calls limits the time."""
        target, options = _target(letter)
        try:
            context = _context(letter.bundle)
        except ssl.SSLError:
            raise Unreachable(
                "unable to load root certificates: unable to parse bytes as PEM block"
            ) from None
        try:
            async with (
                aiohttp.ClientSession(auto_decompress=True) as session,
                session.post(
                    target, data=letter.body, ssl=context, allow_redirects=False, **options
                ) as response,
            ):
                body = await response.content.read(ANSWER_BYTES)
                while piece := await response.content.read(ANSWER_BYTES - len(body)):
                    body += piece
                return Reply(response.status, body, _lowered(response.headers))
        except (aiohttp.ClientError, OSError) as error:
            raise Unreachable(f'Post "{letter.url}": {_why(error, letter)}') from None


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _target(letter: Letter) -> tuple[str, dict[str, Any]]:
    """The URL to connect to, and what makes it look like the one that is meant."""
    if letter.locate is None:
        return letter.url, {"headers": _HEADERS}
    try:
        at = letter.locate()
    except Unreachable as error:
        raise Unreachable(f'Post "{letter.url}": {error}') from None
    parts = urlsplit(letter.url)
    url = parts._replace(netloc=str(at)).geturl()
    return url, {
        "headers": {**_HEADERS, "host": parts.netloc},
        "server_hostname": parts.hostname,
    }


@lru_cache(BUNDLES)
def _context(bundle: bytes) -> ssl.SSLContext:
    if not bundle:
        return ssl.create_default_context()
    return ssl.create_default_context(cadata=bundle.decode(errors="replace"))


def _why(error: Exception, letter: Letter) -> str:
    match error:
        case aiohttp.ClientConnectorCertificateError(
            certificate_error=ssl.SSLCertVerificationError() as cause
        ):
            return _unverified(cause, letter)
        case aiohttp.ClientConnectorDNSError():
            return f"dial tcp: lookup {error.host}: no such host"
        case aiohttp.ClientConnectorError():
            return _refused(error)
        case aiohttp.ServerDisconnectedError():
            return "EOF"
    return str(error) or type(error).__name__


def _unverified(cause: ssl.SSLCertVerificationError, letter: Letter) -> str:
    if cause.verify_code in _UNKNOWN_CODES:
        return _UNKNOWN
    if cause.verify_code == _EXPIRED_CODE:
        return (
            "tls: failed to verify certificate: x509: certificate has expired or is not yet valid"
        )
    host = urlsplit(letter.url).hostname
    if "mismatch" in cause.verify_message.lower():
        text = f"certificate is not valid for any names, but wanted to match {host}"
        return f"tls: failed to verify certificate: x509: {text}"
    return f"tls: failed to verify certificate: x509: {cause.verify_message}"


def _refused(error: aiohttp.ClientConnectorError) -> str:
    where = f"dial tcp {error.host}:{error.port}: connect"
    if isinstance(error.os_error, ConnectionRefusedError):
        return f"{where}: connection refused"
    if isinstance(error.os_error, socket.gaierror):
        return f"dial tcp: lookup {error.host}: no such host"
    return f"{where}: {(error.os_error.strerror or str(error.os_error)).lower()}"
