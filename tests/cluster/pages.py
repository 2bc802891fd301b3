"""Pages of docs, typed on the real cluster as they stand there."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cluster.user import User
from realcluster.install import DEPLOY
from unit.test_docs import DOCS, blocks

HEADING = "## "


@dataclass(frozen=True)
class Shell:
    """A folder with `deploy` in it, and kubectl, helm and quintant on the path."""

    user: User
    folder: Path

    @classmethod
    def make(cls, user: User, name: str) -> Shell:
        """A folder of this name, among the files of the user."""
        folder = user.folder / name
        programs = folder / "bin"
        programs.mkdir(parents=True)
        (folder / "deploy").symlink_to(DEPLOY)
        (programs / "kubectl").symlink_to(user.kubectl.program)
        (programs / "helm").symlink_to(user.helm.program)
        (programs / "quintant").symlink_to(Path(sys.executable).with_name("quintant"))
        return cls(user, folder)

    async def run(self, text: str) -> str:
        """What commands print; each has to succeed."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *("bash", "-eo", "pipefail", "-c", text),
            env=self._environ(), cwd=self.folder, stdout=pipe, stderr=pipe,
        )  # fmt: skip
        output, complaint = await process.communicate()
        assert process.returncode == 0, f"{text}\n{output.decode()}\n{complaint.decode()}"
        return output.decode()

    async def section(self, page: str, title: str = "") -> None:
        """Type every command of a section of a page, in order; without a title, what is first."""
        for text in commands(page, title):
            await self.run(text)

    def _environ(self) -> dict[str, str]:
        homes = {f"HELM_{name}_HOME": str(self.folder / name) for name in ("CACHE", "DATA")}
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return {
            **os.environ,
            **homes,
            "PATH": path,
            "KUBECONFIG": str(self.user.kubectl.kubeconfig),
        }


def commands(page: str, title: str = "") -> Iterator[str]:
    """The shell blocks of a section."""
    lines = (DOCS / page).read_text().splitlines()
    for block in blocks(DOCS / page):
        above = [line for line in lines[: block.line] if line.startswith(HEADING)]
        own = above[-1].removeprefix(HEADING) if above else ""
        if block.info == "sh" and own == title:
            yield block.text
