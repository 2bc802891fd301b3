"""The connections to an API server that share one TLS identity.

Requests share a pool of kept-alive connections; each stream has one of its own. When the identity
changes, or the connections get old, the transport takes a new `Line` and retires this one: it
closes when its last request is done, so that no request is torn.
"""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import quote

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from quintant.runtime.client.config import Config
from quintant.runtime.client.transport import JSON
from quintant.runtime.client.trust import context
from quintant.runtime.client.user import Impersonate
from quintant.runtime.clock import monotonic
from quintant.runtime.tls import KeyPair
from quintant.version import QUINTANT

# A peer that vanished without a word is noticed by the kernel: probes after 30 s of silence, every
# 15 s, two of them; and whatever we send must be acknowledged within 45 s.
SOCKET_OPTIONS = {
    "TCP_KEEPIDLE": 30,
    "TCP_KEEPINTVL": 15,
    "TCP_KEEPCNT": 2,
    "TCP_USER_TIMEOUT": 45_000,  # milliseconds
}
# An unused connection is kept this long: less than the 60 s after which common load balancers drop
# one silently, so that a request rarely finds it dead.
IDLE_SECONDS = 30.0
# Connections are replaced after this long, so that load reaches API servers that came later.
AGE_SECONDS = 600.0
# Bytes read ahead of the consumer: four times aiohttp's default, which makes a large list cheaper.
BUFFER_BYTES = 256 * 1024
# What a response head may hold; an API server's stays far below.
LINE_BYTES, HEADERS = 16 * 1024, 128
# What the bytes of an Impersonate-Extra header's name may be, besides letters and digits.
NAME_BYTES = "!#$&'*+^`|"


class Line:
    """Connections under one identity; `users` counts the requests under way on them."""

    def __init__(self, config: Config, pair: KeyPair | None, *, pooled: bool) -> None:
        self.pair = pair
        self.users = 0
        self._born = monotonic()
        self.session = aiohttp.ClientSession(
            connector=_connector(config, pair, pooled),
            headers=_headers(config.user.impersonate),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            proxy=URL(config.proxy.reveal()) if config.proxy else None,
            read_bufsize=BUFFER_BYTES,
            max_line_size=LINE_BYTES,
            max_field_size=LINE_BYTES,
            max_headers=HEADERS,
        )

    def fits(self, pair: KeyPair | None) -> bool:
        """Whether a request with this key pair may still begin here."""
        return self.pair is pair and monotonic() - self._born < AGE_SECONDS

    async def close(self) -> None:
        """Close every connection; requests under way fail."""
        await self.session.close()


def _connector(config: Config, pair: KeyPair | None, pooled: bool) -> aiohttp.TCPConnector:
    secure = config.server.startswith("https:")
    kept: dict[str, Any] = {"keepalive_timeout": IDLE_SECONDS} if pooled else {"force_close": True}
    # No limit on connections: the workers limit how many requests there are, and a limit here would
    # let requests that hang keep a lease renewal waiting.
    return aiohttp.TCPConnector(
        ssl=context(config.trust, pair) if secure else True,
        limit=0,
        socket_factory=tuned,
        **kept,
    )


def tuned(address: Any) -> socket.socket:
    """A socket for an address, set to notice that its peer is gone."""
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in SOCKET_OPTIONS.items():
        if hasattr(socket, name):  # not every system has all of them
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return made


def _headers(impersonate: Impersonate) -> CIMultiDict[str]:
    # aiohttp fills in what is missing of the first three on each request, at a cost; and without
    # "identity" it would ask for compression, which costs more CPU than a cluster network saves.
    headers = CIMultiDict(
        {"Accept": JSON, "Accept-Encoding": "identity", "User-Agent": f"quintant/{QUINTANT}"}
    )
    if impersonate.user:
        headers.add("Impersonate-User", impersonate.user)
    if impersonate.uid:
        headers.add("Impersonate-Uid", impersonate.uid)
    for group in impersonate.groups:
        headers.add("Impersonate-Group", group)
    for name, values in impersonate.extra.items():
        for value in values:
            headers.add(f"Impersonate-Extra-{quote(name, safe=NAME_BYTES)}", value)
    return headers
