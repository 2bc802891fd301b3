"""The way from here to an API server: directly, through a proxy's tunnel, or by a proxy's hand.

A proxy tunnels to a server under TLS (CONNECT) and forwards requests to one without. This module
only says where to connect and what to say there; `line` does it.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from msgspec import Struct

from quintant.http.encode_request import encode_request, header_line
from quintant.keys.sensitive import Sensitive

if TYPE_CHECKING:
    from quintant.client.config.config import Config

PORTS = {"http": 80, "https": 443}


class Hop(Struct, frozen=True):
    """A host to connect to, with TLS or without."""

    host: str
    port: int
    secure: bool

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class ServerRoute(Struct, frozen=True):
    """Where requests go, and how they name their target there."""

    server: Hop
    proxy: Hop | None
    authority: str
    """The server's Host header."""
    prefix: str
    """What comes before every path: that of the server's URL, or the URL itself for a proxy."""
    password: Sensitive[str]
    """The proxy's Proxy-Authorization header line; empty without one."""

    @classmethod
    def from_config(cls, config: Config) -> ServerRoute:
        """The route that a configuration describes."""
        url = urlsplit(config.server)
        proxy = urlsplit(config.proxy.reveal()) if config.proxy else None
        server, authority = _hop(url), url.netloc.rpartition("@")[2]
        forwarded = proxy is not None and not server.secure
        root = f"{url.scheme}://{authority}" if forwarded else ""
        return cls(
            server,
            _hop(proxy) if proxy else None,
            authority,
            root + url.path.rstrip("/"),
            _password(proxy) if proxy else Sensitive(""),
        )

    @property
    def first_hop(self) -> Hop:
        """Whom to connect to."""
        return self.proxy or self.server

    @property
    def connect_request(self) -> bytes:
        """What to ask of a proxy before TLS with the server begins; empty if there is no need."""
        if self.proxy is None or not self.server.secure:
            return b""
        lines = f"{header_line('Host', str(self.server))}{self.password.reveal()}"
        return encode_request("CONNECT", str(self.server), lines, None)

    @property
    def header_lines(self) -> Sensitive[str]:
        """The header lines that the route adds to every request."""
        forwarded = self.proxy is not None and not self.server.secure
        return Sensitive(
            header_line("Host", self.authority) + (self.password.reveal() if forwarded else "")
        )


def _hop(url: SplitResult) -> Hop:
    return Hop(url.hostname or "", url.port or PORTS[url.scheme], url.scheme == "https")


def _password(proxy: SplitResult) -> Sensitive[str]:
    if proxy.username is None:
        return Sensitive("")
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    word = base64.b64encode(pair.encode()).decode()
    return Sensitive(header_line("Proxy-Authorization", f"Basic {word}"))
