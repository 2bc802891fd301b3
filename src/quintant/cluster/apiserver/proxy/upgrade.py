"""tryUpgrade: a connection that a pod and a client go on with in another protocol.

What it is nobody here knows: bytes are carried until either side ends, or says nothing for hours.
"""

from __future__ import annotations

import asyncio

from quintant.cluster.apiserver.proxy.exchange import IDLE_SECONDS, Backing
from quintant.http.connection import Connection


async def join(connection: Connection, backing: Backing, first: bytes) -> None:
    """Carry bytes both ways, beginning with what the pod sent already."""
    try:
        async with asyncio.timeout(IDLE_SECONDS) as limit:
            if first:
                await connection.write(first)
            sending = asyncio.ensure_future(_to_pod(connection, backing, limit))
            receiving = asyncio.ensure_future(_to_client(connection, backing, limit))
            try:
                await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in (sending, receiving):
                    each.cancel()
                await asyncio.gather(sending, receiving, return_exceptions=True)
    except TimeoutError:
        return
    finally:
        await backing.abandon()


async def _to_pod(connection: Connection, backing: Backing, limit: asyncio.Timeout) -> None:
    while data := await connection.read():
        _extend(limit)
        backing.writer.write(data)
        await backing.writer.drain()


async def _to_client(connection: Connection, backing: Backing, limit: asyncio.Timeout) -> None:
    while data := await backing.read():
        _extend(limit)
        await connection.write(data)


def _extend(limit: asyncio.Timeout) -> None:
    if not limit.expired():
        limit.reschedule(asyncio.get_running_loop().time() + IDLE_SECONDS)
