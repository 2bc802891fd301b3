"""ClientManager: TLS to one webhook server, verified by its name and the caBundle.

The authorities of a bundle are believed by Go's rules, which are not OpenSSL's: OpenSSL proves that
the server has the key of the certificate it shows, and nothing is sent before that certificate is
verified (`golang.x509_verify`). Without a bundle the machine's authorities count, for OpenSSL.

Connections are kept between reviews, and only reviews for the very same place share them: another
address, name or set of authorities is another place, so that a changed configuration counts at
once and nobody is believed on somebody else's certificate.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from quintant.client.http.dial import Dialer
from quintant.client.http.idle import IdleConnections
from quintant.client.http.route import Hop, ServerRoute
from quintant.client.transport import JSON, ApiResponse
from quintant.cluster.apiserver.golang.tls_config import (
    BUNDLES,
    certificate_pool,
    machine_context,
    unverified_context,
    verify_presented,
)
from quintant.cluster.apiserver.golang.x509_errors import UntrustedCertificate
from quintant.core.clock import monotonic
from quintant.http.client_connection import ClientConnection, ConnectionBroken
from quintant.http.encode_request import encode_request, header_line
from quintant.keys.sensitive import Sensitive

ANSWER_BYTES = 64 * 1024 * 1024
"""Of an answer: a conversion may carry a whole list."""
LONGEST_SECONDS = 60.0
"""For a connection or an answer: webhooks get 30 s at most, and whoever asks counts them."""

_LINES = "".join(
    header_line(name, value)
    for name, value in (
        ("Content-Type", JSON),
        ("Accept", f"{JSON}, */*"),
        ("Accept-Encoding", "identity"),
        ("User-Agent", "kube-apiserver-admission"),
    )
)


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """Where a webhook server is, and what proves that it is the one."""

    host: str
    port: int
    name: str
    """What its certificate has to be for."""
    authority: str
    """What it is called in requests."""
    bundle: bytes = field(repr=False)
    """The authorities to trust (PEM); the machine's own if empty."""


class InvalidBundle(Exception):
    """There is no certificate in a bundle."""


class WebhookConnections(IdleConnections):
    """Connections to one place; InvalidBundle if its authorities are none."""

    def __init__(self, address: WebhookAddress) -> None:
        super().__init__()
        self._address = address
        hop = Hop(address.host, address.port, secure=True)
        route = ServerRoute(hop, None, address.authority, "", Sensitive(""))
        self._dialer = Dialer(route, _context(address.bundle), address.name)
        self._lines = header_line("Host", address.authority) + _LINES

    async def post(self, target: str, body: bytes) -> ApiResponse:
        """Post, and wait for the answer.

        A connection that ends instead of answering had been given up before it was used, or so it
        seems: then a new one is asked. A review may therefore arrive twice, with the same uid.
        """
        data = encode_request("POST", target, self._lines, body)
        rested = self.take(monotonic())
        if rested is not None:
            try:
                return await self._ask(rested, data)
            except ConnectionBroken as error:
                if error.begun:
                    raise
        connection = await self._dialer.dial(LONGEST_SECONDS, _ignore)
        self._verify(connection)
        return await self._ask(connection, data)

    def _verify(self, connection: ClientConnection) -> None:
        """UntrustedCertificate, and no connection, unless the bundle vouches for who is there."""
        if not self._address.bundle:
            return
        shown, address = connection.transport.get_extra_info("ssl_object"), self._address
        try:
            verify_presented(shown, address.bundle, address.name, datetime.now(UTC))
        except UntrustedCertificate:
            connection.close()
            raise

    async def _ask(self, connection: ClientConnection, data: bytes) -> ApiResponse:
        head, body = await connection.request(
            "POST", data, most=ANSWER_BYTES, seconds=LONGEST_SECONDS
        )
        self.keep(connection)
        return ApiResponse(head.status, body, head.headers)


@lru_cache(BUNDLES)
def _context(bundle: bytes) -> ssl.SSLContext:
    if not bundle:
        return machine_context()
    if not certificate_pool(bundle):
        raise InvalidBundle
    return unverified_context()


def _ignore(connection: ClientConnection) -> None:
    """A connection that ended at rest is found to be of no use when it is looked for."""
