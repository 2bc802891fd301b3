"""kubectl beside the console: a list, and changes as its watch prints them."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from envtest.existing import kubectl
from processes.running import running_command

LISTS = 3
DEVICES = ("get", "edgedevices", "--all-namespaces")
ONLY_CHANGES = ("--watch-only", "--output=jsonpath={.spec.sku}{'\\n'}")
SECOND = 1000.0


@dataclass
class WatchedChanges:
    """How old changes were when kubectl had printed them, in seconds."""

    delays: list[float] = field(default_factory=list)

    def note(self, line: bytes) -> None:
        """Take a line."""
        text = line.decode("utf-8", "replace").strip()
        if text.startswith("t") and text[1:].isdigit():
            self.delays.append(time.time() - int(text[1:]) / SECOND)


def list_seconds(kubeconfig: Path) -> float:
    """How long kubectl takes to show all devices; the best of a few times."""
    command = [kubectl(os.environ), f"--kubeconfig={kubeconfig}", *DEVICES]
    found = []
    for _ in range(LISTS):
        began = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found.append(time.monotonic() - began)
    return min(found)


@contextmanager
def watched_changes(kubeconfig: Path) -> Iterator[WatchedChanges]:
    """Changes that kubectl prints while the context lasts."""
    found = WatchedChanges()
    command = [kubectl(os.environ), f"--kubeconfig={kubeconfig}", *DEVICES, *ONLY_CHANGES]
    with running_command(command) as child:
        reader = threading.Thread(target=_read, args=(child, found))
        reader.start()
        try:
            yield found
        finally:
            child.terminate()
            reader.join()


def _read(child: subprocess.Popen[bytes], found: WatchedChanges) -> None:
    assert child.stdout is not None
    for line in child.stdout:
        found.note(line)
