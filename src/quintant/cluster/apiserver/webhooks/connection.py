"""The way to one webhook server: TLS to where it is, verified by its name and its own authorities.

Connections are kept between reviews, and only reviews for the very same place share them: another
address, name or set of authorities is another place, so that a changed configuration counts at
once and nobody is believed on somebody else's certificate.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from functools import lru_cache

from quintant.client.http.dial import Dialer
from quintant.client.http.idle import IdleConnections
from quintant.client.http.route import Hop, ServerRoute
from quintant.client.transport import JSON, ApiResponse
from quintant.core.clock import monotonic
from quintant.http.client_connection import ClientConnection, ConnectionBroken
from quintant.http.encode_request import encode_request, header_line
from quintant.keys.sensitive import Sensitive

BUNDLES = 64
"""Sets of authorities kept ready: more than there are webhook servers in a cluster."""
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


class WebhookConnections(IdleConnections):
    """Connections to one place; ssl.SSLError if its authorities are none."""

    def __init__(self, place: WebhookAddress) -> None:
        super().__init__()
        hop = Hop(place.host, place.port, secure=True)
        route = ServerRoute(hop, None, place.authority, "", Sensitive(""))
        self._dialer = Dialer(route, _context(place.bundle), place.name)
        self._lines = header_line("Host", place.authority) + _LINES

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
        return await self._ask(await self._dialer.dial(LONGEST_SECONDS, _ignore), data)

    async def _ask(self, connection: ClientConnection, data: bytes) -> ApiResponse:
        head, body = await connection.request(
            "POST", data, most=ANSWER_BYTES, seconds=LONGEST_SECONDS
        )
        self.keep(connection)
        return ApiResponse(head.status, body, head.headers)


@lru_cache(BUNDLES)
def _context(bundle: bytes) -> ssl.SSLContext:
    if not bundle:
        return ssl.create_default_context()
    return ssl.create_default_context(cadata=bundle.decode(errors="replace"))


def _ignore(connection: ClientConnection) -> None:
    """A connection that ended at rest is found to be of no use when it is looked for."""
