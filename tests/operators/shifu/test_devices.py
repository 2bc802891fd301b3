"""Simulated devices behind their agents, as a caller sees them (scenarios H)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest

from quintant.agents.devices import camera, thermometer
from quintant.agents.devices.http_device import handler
from quintant.http.server import serving
from scenarios.soak_size import SHARE
from testbeds.devices import bench, edge_device

pytestmark = pytest.mark.realtime

CONFIG = {"instructions": "instructions: {read_value: , stream: }"}
STREAM_SECONDS = 31.0 if SHARE == 1 else 1.0


async def test_h1_a_thermometer_is_read_through_its_agent(tmp_path: Path) -> None:
    async with (
        serving(handler(thermometer.pages(Random(0))), "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", f"{host}:{port}"), CONFIG) as made,
    ):
        status, said = await made.text("/read_value")
        assert status == 200
        assert 10 <= int(said) <= 30
        assert await made.text("/nope") == (404, "Error: Device instruction does not exist!\n")
        assert await made.text("/read_value", "DELETE") == (400, "not supported yet\n")


async def test_h10_soak_pictures_flow_for_as_long_as_somebody_looks(tmp_path: Path) -> None:
    async with (
        serving(handler(camera.pages(camera.CameraState())), "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", f"{host}:{port}"), CONFIG) as made,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", made.port)
        writer.write(b"GET /stream?timeout=0 HTTP/1.1\r\nhost: a\r\n\r\n")
        loop = asyncio.get_running_loop()
        ends = loop.time() + STREAM_SECONDS
        frames = 0
        while loop.time() < ends:
            frames += (await reader.readuntil(b"\xff\xd9")).count(b"\xff\xd8")
        writer.close()
        assert frames > 2
