"""kubectl as a program: the one of the user's machine, and those that were built with Go."""

from __future__ import annotations

import asyncio
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from envtest import locate
from envtest.binaries import other_kubectls

KUBECTL = "kubectl"
WITHIN = 60.0
"""Seconds a command may take on a loaded machine."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Kubectl:
    """A kubectl, with a cluster and a namespace of its own."""

    program: Path
    kubeconfig: Path
    cache: Path
    namespace: str

    async def __call__(self, *words: str, given: str = "") -> str:
        """What a command prints; it has to succeed."""
        found = await self.run(*words, given=given)
        assert found.code == 0, f"kubectl {' '.join(words)}: {found.err}"
        return found.out

    async def run(self, *words: str, given: str = "") -> Outcome:
        """Run a command to its end; `given` is its input."""
        process = await self.start(*words)
        async with asyncio.timeout(WITHIN):
            out, err = await process.communicate(given.encode())
        return Outcome(process.returncode or 0, out.decode(), err.decode())

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        """Begin a command that goes on."""
        environ = {**os.environ, "KUBECONFIG": str(self.kubeconfig)}
        place = ("--cache-dir", str(self.cache), "--namespace", self.namespace)
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            self.program, *place, *words,
            env=environ, stdin=pipe, stdout=pipe, stderr=pipe,
        )  # fmt: skip


def programs() -> list[Path]:
    """Every kubectl there is, each once."""
    named = os.environ.get("KUBECTL") or shutil.which("kubectl")
    beside = locate(os.environ, (KUBECTL,))
    found = [Path(named)] if named else []
    return [*found, *([] if beside is None else [beside / KUBECTL]), *other_kubectls(os.environ)]
