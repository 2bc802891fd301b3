"""`quintant up` as a process of its own, for programs of others that work beside it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import patience
from conformance.target import Target
from foreign import ProgramError
from foreign.go_program import GoProgram
from foreign.process import Child
from interop.conftest import Aloud
from quintant import Config
from quintant.client.http.transport import HttpTransport

START_SECONDS = 60.0
APPLY_SECONDS = 60.0


@dataclass(frozen=True)
class Served:
    """A cluster that is served: requests to it, and what its users need."""

    target: Target
    kubeconfig: Path

    @property
    def folder(self) -> Path:
        """Where the logs of everybody are."""
        return self.kubeconfig.parent

    async def apply(self, *options: str | Path) -> None:
        """Apply manifests as their projects publish them, and wait until they are served."""
        words = (*map(str, options), "--kubeconfig", str(self.kubeconfig), "--wait")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "quintant", "apply", *words),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with patience.within(APPLY_SECONDS):
            printed, _ = await process.communicate()
        assert process.returncode == 0, printed.decode()

    @contextmanager
    def running(self, name: str, *command: str | Path) -> Any:
        """A program at work; its log. One that has ended by itself is an error."""
        log = self.folder / f"{name}.log"
        child = Child(tuple(map(str, command)), log)
        try:
            yield log
            child.check()
        finally:
            child.stop()


@asynccontextmanager
async def up(folder: Path, *options: str) -> AsyncIterator[Served]:
    """A cluster with these options, until the end of the context."""
    path, log = folder / "kubeconfig", folder / "up.log"
    words = ("up", *options, "--listen", "127.0.0.1:0", "--kubeconfig", str(path))
    server = Child((sys.executable, "-m", "quintant", *words), log)
    try:
        async with patience.within(START_SECONDS):
            while not path.exists():
                server.check()
                await asyncio.sleep(0.1)
        transport = HttpTransport(Config.load(path))
        try:
            yield Served(Target(transport, "default"), path)
        finally:
            await transport.close()
    finally:
        server.stop()


def provided(programs: Sequence[GoProgram], aloud: Aloud) -> list[Path]:
    """Programs, built where they are missing; skipped aloud where they cannot be had."""
    try:
        with aloud():
            return [program.provide(os.environ) for program in programs]
    except ProgramError as error:
        pytest.skip(str(error))
