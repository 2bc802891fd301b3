"""`quintant record` and `replay`, as programs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

import patience
from quintant import Config
from quintant.cli import main
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from testbeds.devices import until
from unit.cluster.api import CMS, Requests, config_map

WITHIN = 30.0


@asynccontextmanager
async def reached(kubeconfig: Path) -> AsyncIterator[Requests]:
    transport = HttpTransport(Config.load(kubeconfig))
    try:
        yield Requests(transport)
    finally:
        await transport.close()


@asynccontextmanager
async def program(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program, killed at the end."""
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-m", "quintant", *arguments)
    process = await asyncio.create_subprocess_exec(*command, stderr=pipe, stdout=pipe)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.realtime
async def test_what_was_recorded_before_a_kill_is_replayed(tmp_path: Path) -> None:
    file, way, again = (tmp_path / name for name in ("file", "way", "again"))
    async with patience.within(WITHIN):
        async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
            save_kubeconfig(cluster, way)
            async with program("record", str(file), f"--kubeconfig={way}") as recorder:
                assert recorder.stderr is not None
                assert (await recorder.stderr.readline()).startswith(b"recording ")
                async with reached(way) as requests:
                    await requests.create(CMS, config_map("kept"))
                    made = await requests.create(CMS, config_map("gone"))
                    await requests.delete(f"{CMS}/gone")
                await until(lambda: b'"deleted":true' in file.read_bytes())
        revision = made["metadata"]["resourceVersion"]
        arguments = ("--listen=127.0.0.1:0", f"--kubeconfig={again}", f"--until={revision}")
        async with program("replay", str(file), *arguments) as replay:
            assert replay.stdout is not None
            await replay.stdout.readline()
            async with reached(again) as requests:
                found = await requests.get(f"{CMS}/gone")
                assert found == made
                assert await requests.names(CMS) == ["gone", "kept"]


def test_what_cannot_be_replayed_is_named(tmp_path: Path) -> None:
    found = CliRunner().invoke(main, ["replay", str(tmp_path / "none")])
    assert found.exit_code == 1
    assert found.stderr.startswith(f"cannot replay {tmp_path / 'none'}\nbecause: No such file")
