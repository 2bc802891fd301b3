"""The way to a relay: TCP, TLS, and the upgrade to a WebSocket."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache, partial
from random import Random
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.multiplex.socket import WebSocket
from quintant.agents.multiplex.websocket import KEY_BYTES, accept_key, fresh_key
from quintant.agents.tunnel.options import RelayEndpoint
from quintant.http.head import (
    ProtocolError,
    ResponseHead,
    encode_head,
    parse_response_head,
    upgrade_protocol,
)
from quintant.wire.portal import PROTOCOL

CONNECT_SECONDS = 10.0
"""For TCP, TLS and the upgrade together."""
_PORTS = {"ws": 80, "wss": 443}


class UpgradeRefused(Exception):
    """The relay, or something before it, answered something else than an upgrade."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the relay answered {status}: {reason}")
        self.status = status


class Dialed(NamedTuple):
    """A connection to a relay, ready for messages."""

    socket: WebSocket
    own: bool
    """Whether it speaks our protocol; else it is a relay of Portal's own, or none at all."""


async def dial_relay(relay: RelayEndpoint, resolver: HostResolver, random: Random) -> Dialed:
    """Connect to a relay. UpgradeRefused, OSError, or TimeoutError."""
    url, socket = urlsplit(relay.url), WebSocket(partial(random.randbytes, 4))
    port = url.port or _PORTS[url.scheme]
    context = trusted(relay.authority) if url.scheme == "wss" else None
    async with asyncio.timeout(CONNECT_SECONDS):
        await resolver.connect(lambda: socket, url.hostname or "", port, context)
        try:
            own = await _upgrade(socket, url, relay.token, fresh_key(random.randbytes(KEY_BYTES)))
        except BaseException:
            socket.abort()
            raise
    return Dialed(socket, own)


async def _upgrade(socket: WebSocket, url: SplitResult, token: str, key: bytes) -> bool:
    """Ask for the upgrade; whether our protocol is spoken."""
    socket.write(_upgrade_request(url, token, key))
    try:
        head = parse_response_head(await socket.head())
    except ProtocolError:
        raise ConnectionError("what answers there speaks no HTTP/1.1") from None
    if head.status != 101:
        raise UpgradeRefused(head.status, head.reason.decode("latin-1"))
    if not _agreed(head, key):
        raise ConnectionError("what answers there speaks no WebSocket")
    return bool(head.all(b"sec-websocket-protocol"))


def _upgrade_request(url: SplitResult, token: str, key: bytes) -> bytes:
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    fields = [
        (b"Host", url.netloc.rpartition("@")[2].encode("idna")),
        (b"Connection", b"Upgrade"),
        (b"Upgrade", b"websocket"),
        (b"Sec-WebSocket-Version", b"13"),
        (b"Sec-WebSocket-Key", key),
        (b"Sec-WebSocket-Protocol", PROTOCOL.encode()),
    ]
    if token.strip():  # Secrets are often written with a line end.
        fields.append((b"Authorization", f"Bearer {token.strip()}".encode()))
    return encode_head(f"GET {target} HTTP/1.1".encode(), fields)


def _agreed(head: ResponseHead, key: bytes) -> bool:
    named = head.all(b"sec-websocket-protocol")
    spoken = upgrade_protocol(head).lower() == b"websocket"
    proven = head.all(b"sec-websocket-accept") == [accept_key(key)]
    return spoken and proven and named in ([], [PROTOCOL.encode()])


def trusted(authority: str) -> ssl.SSLContext:
    """Whom to believe that it is the relay: its own authority, or the system's."""
    return ssl.create_default_context(cafile=authority) if authority else _system()


@cache
def _system() -> ssl.SSLContext:
    return ssl.create_default_context()
