"""`quintant up` as a child process, for clients that nobody here wrote."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quintant.die_with_parent import die_with_parent
from scenarios.server import environ

_COMMAND = ("-m", "quintant", "up", "--listen", "127.0.0.1:0")
_READY = "export KUBECONFIG="


@contextmanager
def up(folder: Path, *options: str) -> Iterator[Path]:
    """Run a cluster for as long as the context lasts; yields its kubeconfig."""
    kubeconfig = folder / "kubeconfig"
    command = die_with_parent(
        [sys.executable, *_COMMAND, "--kubeconfig", str(kubeconfig), *options]
    )
    with subprocess.Popen(command, env=environ(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(line.startswith(_READY) for line in process.stdout), "it has ended"
        try:
            yield kubeconfig
        finally:
            process.terminate()
