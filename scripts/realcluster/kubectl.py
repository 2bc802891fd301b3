"""kubectl and Helm, as a user of the cluster calls them: in the network of its outside."""

import asyncio
import json
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from foreign.errors import ProgramError

Plain = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Helm:
    """One Helm with one kubeconfig."""

    program: Path
    kubeconfig: Path

    async def __call__(self, *words: str) -> str:
        """Run a command, and return what it prints; ProgramError with what it complains about."""
        return await _run((str(self.program), f"--kubeconfig={self.kubeconfig}", *words))


@dataclass(frozen=True)
class Kubectl:
    """One kubectl with one kubeconfig."""

    program: Path
    kubeconfig: Path

    async def __call__(self, *words: str, stdin: str = "") -> str:
        """Run a command, and return what it prints; ProgramError with what it complains about."""
        return await _run((str(self.program), f"--kubeconfig={self.kubeconfig}", *words), stdin)

    async def get(self, *words: str) -> Any:
        """What a `kubectl get` finds, as objects."""
        return json.loads(await self("get", *words, "--output=json"))

    async def raw(self, path: str) -> Any:
        """What the API has at a path."""
        return json.loads(await self("get", "--raw", path))

    async def apply(self, objects: Iterable[Plain]) -> None:
        """Apply objects that name their namespaces."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        await self("apply", "--filename=-", stdin=json.dumps(listed))


async def all_of(calls: Iterable[Awaitable[T]]) -> list[T]:
    """The results of calls at once; the first error among them, once all have ended."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    for each in results:
        if isinstance(each, BaseException):
            raise each
    return [each for each in results if not isinstance(each, BaseException)]


async def _run(command: Sequence[str], stdin: str = "") -> str:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    output, complaint = await process.communicate(stdin.encode())
    if process.returncode != 0:
        shown = " ".join((Path(command[0]).name, *command[2:]))
        raise ProgramError(
            f"cannot run {shown}",
            why=complaint.decode(errors="replace").strip() or f"code {process.returncode}",
            hint="read what the API server says above",
        )
    return output.decode()
