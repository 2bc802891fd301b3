"""The operator shifu as a process, on whatever a kubeconfig names."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from processes.usage import Usage, usage

_FLAGS = ("--metrics=", "--probes=", "--no-leader-elect")
_ENVIRONMENT = {"EDGEMAP_ADDR": "off", "EDGENODE_MIRROR": "false"}


@contextmanager
def controller(kubeconfig: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """The operator, as long as the context lasts."""
    line = [sys.executable, "-m", "quintant", "operator", "shifu", "--kubeconfig", str(kubeconfig)]
    env = {**os.environ, **_ENVIRONMENT, **environment}
    with subprocess.Popen([*line, *_FLAGS], env=env, stderr=subprocess.DEVNULL) as child:
        try:
            yield child
        finally:
            child.kill()


def rested(pid: int) -> Usage:
    """Wait until a process has done nothing for some seconds; what it used until then."""
    last, still = usage(pid), 0
    while still < 3:
        time.sleep(2)
        now = usage(pid)
        still = still + 1 if now.cpu - last.cpu < 0.2 else 0
        last = now
    return last
