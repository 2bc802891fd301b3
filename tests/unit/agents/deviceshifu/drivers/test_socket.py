"""Devices behind a plain socket, through the facade."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from quintant.agents.devices.socket_echo import echo
from testbeds.devices import Bench, bench, edge_device, raw_device, until

pytestmark = pytest.mark.realtime
CONFIG = {"instructions": "instructions:\n  cmd:\n"}


@asynccontextmanager
async def echoing(folder: Path, **settings: Any) -> AsyncIterator[Bench]:
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    more = {"protocolSettings": {"SocketSetting": settings}}
    try:
        async with bench(
            folder, edge_device("Socket", f"127.0.0.1:{port}", **more), CONFIG
        ) as made:
            yield made
    finally:
        server.close()


async def command(made: Bench, text: str, kind: str = "application/json") -> tuple[int, Any]:
    body = json.dumps({"command": text, "timeout": 5}).encode()
    status, _, said = await made.ask("/cmd", "POST", body, content_type=kind)
    return status, json.loads(said) if status == 200 else said.decode()


async def test_h7_a_command_is_sent_and_its_reply_told(tmp_path: Path) -> None:
    async with echoing(tmp_path) as made:
        assert await command(made, "123") == (200, {"message": "123", "status": 200})
        await until(lambda: made.cluster.phases == ["Running"])


async def test_h7_callers_never_get_each_others_replies(tmp_path: Path) -> None:
    async with echoing(tmp_path) as made:
        said = await asyncio.gather(*(command(made, f"caller-{at}") for at in range(20)))
        assert [each[1]["message"] for each in said] == [f"caller-{at}" for at in range(20)]


async def test_bytes_are_written_in_hex(tmp_path: Path) -> None:
    async with echoing(tmp_path, encoding="hex", bufferLength=4) as made:
        assert await command(made, "00ff10") == (200, {"message": "00ff10", "status": 200})
        assert (await command(made, "xyz"))[0] == 400


async def test_h7_what_is_no_command_is_refused(tmp_path: Path) -> None:
    async with echoing(tmp_path) as made:
        refused = (400, "content-type is not application/json\n")
        assert await command(made, "1", "text/plain") == refused
        for body in (b"", b"[]", b"nonsense", b'{"command": 1}', b"[" * 100_000):
            status, _, _ = await made.ask("/cmd", "POST", body, content_type="application/json")
            assert status == 400


async def test_a_device_that_hangs_up_is_an_error_and_then_asked_again(tmp_path: Path) -> None:
    async with (
        raw_device(b"bye") as device,
        bench(tmp_path, edge_device("Socket", device.address), CONFIG) as made,
    ):
        for _ in range(3):
            assert await command(made, "x") == (200, {"message": "bye", "status": 200})


async def test_a_silent_device_is_503(tmp_path: Path) -> None:
    async with (
        raw_device(b"") as device,
        bench(tmp_path, edge_device("Socket", device.address), CONFIG) as made,
    ):
        body = json.dumps({"command": "x", "timeout": 1}).encode()
        status, _, _ = await made.ask("/cmd", "POST", body, content_type="application/json")
        assert status == 503
