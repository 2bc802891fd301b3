"""A connection is no answer: a proxy takes it before it knows that nobody is behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from testbeds.devices import bench, edge_device, until

pytestmark = pytest.mark.realtime
DIALS_SECONDS = 0.3
"""How long the proxy looks for somebody."""


@asynccontextmanager
async def proxy_before_nobody() -> AsyncIterator[str]:
    """What a Service of the embedded cluster is whose pod is simulated; its address."""
    loop, taken = asyncio.get_running_loop(), list[asyncio.Transport]()

    class Accepted(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            taken.append(transport)
            loop.call_later(DIALS_SECONDS, transport.abort)

    server = await loop.create_server(Accepted, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for each in taken:
            each.abort()


@pytest.mark.parametrize("protocol", ["HTTP", "Socket", "TCP", "Modbus", "MQTT"])
async def test_a_device_behind_a_proxy_before_nobody_never_answers(
    tmp_path: Path, protocol: str
) -> None:
    settings = {"protocolSettings": {"MQTTSetting": {"MQTTTopic": "a"}}}
    more = settings if protocol == "MQTT" else {}
    async with (
        proxy_before_nobody() as address,
        bench(tmp_path, edge_device(protocol, address, **more), {}) as made,
    ):
        await until(lambda: bool(made.cluster.phases))
        assert made.cluster.phases == ["Failed"]
        (said,) = made.cluster.statuses[0]["conditions"]
        assert (said["status"], said["reason"]) == ("False", "DoesNotAnswer")
