"""Networks as a user sees them: on the command line, over HTTP and in LightNetworks, all alike."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import aiohttp

from quintant.cluster.instance.cluster import save_kubeconfig
from quintant.operators.klight.api.lightnetwork import LightNetwork
from testbeds.controller import Controller
from testbeds.real_peers import RealPeersTestbed


async def quintant(kubeconfig: Path, *words: str, given: bytes = b"") -> tuple[int, str, str]:
    """Run `quintant klight`; its exit code, what it printed, and what it complained of."""
    line = (sys.executable, "-m", "quintant", "klight", *words, f"--kubeconfig={kubeconfig}")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*line, stdin=pipe, stdout=pipe, stderr=pipe)
    out, complaint = await process.communicate(given)
    assert process.returncode is not None
    return process.returncode, out.decode(), complaint.decode()


async def test_command_line_http_and_cluster_tell_the_same(
    testbed: RealPeersTestbed, tmp_path: Path
) -> None:
    controller = Controller(testbed, tmp_path)
    await controller.start()
    try:
        for name in ("p1", "p2", "p3"):
            await testbed.pod(name)
        await testbed.formed(3)

        async def alike() -> bool:
            status, out, _ = await quintant(controller.kubeconfig, "get", "networks", "-o", "json")
            assert status == 0
            told = json.loads(out)
            return bool(
                told == await _served(controller)
                and told["networks"][0]["members"] == 3
                and told["networks"][0]["stack"] == await _stack(testbed)
            )

        await testbed.until(alike)
    finally:
        await controller.kill()


async def test_network_is_written_read_and_repaired_from_the_command_line(
    testbed: RealPeersTestbed, tmp_path: Path
) -> None:
    way = tmp_path / "kubeconfig"
    save_kubeconfig(testbed.cluster, way)
    await testbed.start()
    for name in ("p1", "p2"):
        await testbed.pod(name)
    await testbed.formed(2)
    await testbed.until(lambda: _shown(testbed, 2))
    for text in (b"one", b"two"):
        assert (await quintant(way, "persist", "net", "-", given=text))[0] == 0
    assert (await quintant(way, "query", "net"))[1] == "two\none\n"
    _, table, _ = await quintant(way, "get")
    assert table.splitlines()[1].split()[:6] == ["default", "net", "net", "Ready", "2", "2"]
    assert (await quintant(way, "repair", "net"))[0] == 0

    async def repaired() -> bool:
        status = (await testbed.shown()).status
        return status is not None and bool(status.repair_handled)

    await testbed.until(repaired)
    code, _, complaint = await quintant(way, "describe", "nothing")
    assert code == 1
    assert "there is no network nothing in namespace default" in complaint


async def _served(controller: Controller) -> Any:
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"http://{controller.metrics}/networks") as answer,
    ):
        return await answer.json()


async def _stack(testbed: RealPeersTestbed) -> list[str]:
    status = (await testbed.shown()).status
    return list(status.stack) if status is not None else []


async def _shown(testbed: RealPeersTestbed, members: int) -> bool:
    shown = await testbed.client.find(LightNetwork, "net", "default")
    return shown is not None and shown.status is not None and shown.status.ready == members
