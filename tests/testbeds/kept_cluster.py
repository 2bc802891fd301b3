"""`quintant up` with a data directory, which can be killed and goes on where it ended."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quintant import Config
from quintant.die_with_parent import die_with_parent
from scenarios.server import environ

_READY = "export KUBECONFIG="


class KeptCluster:
    """A cluster that may be killed."""

    def __init__(self, folder: Path) -> None:
        self.kubeconfig, self._data = folder / "kubeconfig", folder / "data"
        self._address = "127.0.0.1:0"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Run it; the next time with the same address. Returns when it answers."""
        command = [
            *(sys.executable, "-m", "quintant", "up", "--api-only", "--listen", self._address),
            *("--data-dir", str(self._data), "--kubeconfig", str(self.kubeconfig)),
        ]
        self._process = subprocess.Popen(
            die_with_parent(command), env=environ(), stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert any(line.startswith(_READY) for line in self._process.stdout), "it has ended"
        self._address = Config.load(self.kubeconfig).server.removeprefix("https://")

    def kill(self) -> None:
        """End it without a word: kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None


@contextmanager
def kept_cluster(folder: Path) -> Iterator[KeptCluster]:
    """A cluster that runs, until it is killed or the context ends."""
    cluster = KeptCluster(folder)
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.kill()
