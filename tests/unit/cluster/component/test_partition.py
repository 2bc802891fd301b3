"""A way to the API server that is cut: requests fail, streams break, and it can be opened again."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from quintant.client.transport import ApiRequest, InProcessTransport
from quintant.cluster.component.partition import PartitionableTransport
from quintant.core.errors import ConnectError
from unit.cluster.api import server

VERSION = ApiRequest("GET", "/version")
WATCH = ApiRequest("GET", "/api/v1/namespaces", {"watch": "1"})


async def test_requests_fail_while_it_is_cut() -> None:
    transport = PartitionableTransport(InProcessTransport(server()))
    assert (await transport.request(VERSION)).status == 200
    transport.disconnect()
    with pytest.raises(ConnectError, match="cannot reach the API server"):
        await transport.request(VERSION)
    with pytest.raises(ConnectError):
        async with transport.stream(WATCH):
            pass
    transport.connect()
    assert (await transport.request(VERSION)).status == 200


async def test_a_stream_that_waits_breaks_when_it_is_cut() -> None:
    transport = PartitionableTransport(InProcessTransport(server()))

    async def cut_later() -> None:
        await asyncio.sleep(10)
        transport.disconnect()

    async with asyncio.TaskGroup() as group, transport.stream(WATCH) as stream:
        group.create_task(cut_later())
        async with aclosing(stream.chunks) as chunks:  # type: ignore[type-var]
            with pytest.raises(ConnectError):
                async for _ in chunks:
                    pass
    transport.connect()
    async with transport.stream(WATCH) as stream:
        assert stream.status == 200
