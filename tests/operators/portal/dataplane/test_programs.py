"""The programs themselves, as processes: killed, stopped, told to end."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest
from aiohttp import ClientSession

import patience
from quintant.agents.multiplex.connection import Keepalive
from testbeds.ports import free_port
from testbeds.programs import relay_program, tunnel_program
from testbeds.relays import PATIENCE_SECONDS, RelayTestbed, host, saying


async def _status(http: int, app: str) -> int:
    url = f"http://127.0.0.1:{http}/"
    async with ClientSession() as client, client.get(url, headers=host(app)) as answer:
        await answer.read()
        return answer.status


async def test_a_relay_that_falls_silent_is_noticed_and_found_again(
    testbed: RelayTestbed, tmp_path: Path
) -> None:
    tls, http = free_port(), free_port()
    async with relay_program(tmp_path, tls=tls, http=http) as relay:
        tunnel = testbed.tunnel(
            "hello", await testbed.service(saying("here")), testbed.target_at(tls)
        )
        await tunnel.connected()
        began = asyncio.get_running_loop().time()
        relay.child.send_signal(signal.SIGSTOP)
        told = await tunnel.until(lambda told: told.relays[0].state == "Backoff")
        assert asyncio.get_running_loop().time() - began < 8
        assert "no sign of life" in told.relays[0].last_error
        relay.child.send_signal(signal.SIGCONT)
        await tunnel.connected()
        assert await _status(http, "hello") == 200
        await tunnel.stop()


async def test_a_machine_that_stood_still_loses_no_tunnel(
    testbed: RelayTestbed, tmp_path: Path
) -> None:
    service = await testbed.service(saying("here"))
    async with (
        relay_program(tmp_path) as relay,
        tunnel_program(tmp_path, "hello", service, relay.tls) as tunnel,
    ):
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for child in (relay.child, tunnel.child):
                child.send_signal(number)
            await asyncio.sleep(Keepalive().dead + 1)
        assert [each.attempts for each in (await tunnel.report.report()).relays] == [1]
        assert await _status(relay.http, "hello") == 200


async def test_a_killed_relay_is_found_again_by_the_same_tunnel(
    testbed: RelayTestbed, tmp_path: Path
) -> None:
    tls, http = free_port(), free_port()
    async with relay_program(tmp_path, tls=tls, http=http) as relay:
        tunnel = testbed.tunnel(
            "hello", await testbed.service(saying("here")), testbed.target_at(tls)
        )
        await tunnel.connected()
        relay.child.kill()
        await tunnel.until(lambda told: told.relays[0].state == "Backoff")
    assert not await tunnel.ready()
    async with relay_program(tmp_path, tls=tls, http=http):
        await tunnel.connected()
        assert await _status(http, "hello") == 200
        await tunnel.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_tunnel_that_ends_leaves_its_visitors_to_the_others(
    testbed: RelayTestbed, tmp_path: Path, number: signal.Signals
) -> None:
    relay, port = await testbed.relay(), await testbed.service(saying("here"))
    other = testbed.tunnel("hello", port, testbed.target(relay))
    await other.connected()
    async with tunnel_program(tmp_path, "hello", port, relay.tls_port) as tunnel:
        statuses = [await _status(relay.http_port, "hello") for _ in range(20)]
        tunnel.child.send_signal(number)
        statuses += [await _status(relay.http_port, "hello") for _ in range(50)]
        code = await tunnel.child.wait()
    assert set(statuses) == {200}
    assert code == (0 if number is signal.SIGTERM else -signal.SIGKILL)


async def test_a_relay_told_to_end_ends_in_order(tmp_path: Path) -> None:
    async with relay_program(tmp_path) as relay:
        relay.child.terminate()
        async with patience.within(PATIENCE_SECONDS):
            assert await relay.child.wait() == 0
