"""The server that is killed: `quintant up --data-dir` in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.die_with_parent import die_with_parent

START_SECONDS = 60.0
"""For a start on a machine that is busy with other things."""
_PROGRAM = "from quintant.cli import main; main()"


class Victim:
    """A server that runs, and a way to it."""

    def __init__(self, process: Process, transport: HttpTransport) -> None:
        self.process, self.transport = process, transport

    async def kill(self) -> None:
        """End it as no program can prepare for; gone when this returns."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def started(folder: Path) -> AsyncIterator[Victim]:
    """A server on a folder, for as long as the context lasts or until killed."""
    kubeconfig = folder / "kubeconfig"
    process = await asyncio.create_subprocess_exec(
        *die_with_parent(
            [
                *(sys.executable, "-c", _PROGRAM, "up", "--data-dir", str(folder)),
                *("--listen", "127.0.0.1:0", "--kubeconfig", str(kubeconfig)),
            ]
        ),
        stdout=PIPE,
        stderr=PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(START_SECONDS):
            ready = await process.stdout.readline()
        if not ready:
            raise RuntimeError((await process.stderr.read()).decode())
        transport = HttpTransport(Config.load(kubeconfig, environ={}))
        try:
            yield Victim(process, transport)
        finally:
            await transport.close()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
