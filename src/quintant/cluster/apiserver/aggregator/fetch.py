"""discoveryClient: one question to an extension server, bounded in time and size.

The server asks for itself: what it is told is believed as far as it is about that server.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from msgspec import Struct

from quintant.client.transport import JSON, ApiRequest
from quintant.cluster.apiserver.aggregator.front_proxy import AGGREGATOR, user_fields
from quintant.cluster.apiserver.aggregator.tls import RemoteTransport
from quintant.cluster.apiserver.proxy.exchange import Backing, NoProxiedResponse
from quintant.cluster.apiserver.proxy.proxied_request import DialFailed, ProxiedRequest
from quintant.core.address import BindAddress
from quintant.http.connection import Disconnected

SECONDS = 5.0
"""For the whole answer, as a real server has it."""
ANSWER_BYTES = 4 * 1024 * 1024
"""Of an answer: an index, or the resources of one version."""


class FetchFailed(Exception):
    """There was no whole answer in time; the text says why, as Go does."""


class Fetched(Struct, frozen=True):
    """An answer."""

    status: int
    body: bytes


async def fetch(transport: RemoteTransport, address: BindAddress, path: str) -> Fetched:
    """The answer to a GET; FetchFailed if there is none."""
    try:
        async with asyncio.timeout(SECONDS):
            return await _fetch(transport, address, path)
    except TimeoutError:
        raise FetchFailed("context deadline exceeded") from None
    except (DialFailed, NoProxiedResponse) as error:
        raise FetchFailed(str(error)) from None
    except Disconnected:
        raise FetchFailed("unexpected EOF") from None


async def _fetch(transport: RemoteTransport, address: BindAddress, path: str) -> Fetched:
    reader, writer = await transport.dial(address)
    backing = Backing(reader, writer, "GET")
    try:
        backing.send(_head(address, path), None, chunked=False)
        head = await backing.head()
        body = bytearray()
        async with aclosing(backing.pieces()) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) > ANSWER_BYTES:
                    raise FetchFailed(f"the answer is larger than {ANSWER_BYTES} bytes")
        return Fetched(head.status, bytes(body))
    finally:
        await backing.abandon()


def _head(address: BindAddress, path: str) -> bytes:
    call = ApiRequest("GET", path, {}, {"accept": JSON, "accept-encoding": "identity"})

    async def unused() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        raise DialFailed("it is dialled already")

    more = user_fields(AGGREGATOR)
    return ProxiedRequest(call, None, path, str(address), unused, more=more).head()
