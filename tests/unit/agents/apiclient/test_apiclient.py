"""What a program in a pod pays for the client: little, beyond the event loop that it has anyway."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import patience

MOST_BYTES = 3_000_000
MOST_SECONDS = 0.020
TRIES = 10
PROGRAM = """
import asyncio, sys, time
before = set(sys.modules)
pages = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096
size, began = pages(), time.process_time()
import quintant.agents.apiclient.client
print(time.process_time() - began, pages() - size, *(set(sys.modules) - before))
"""


def load(cache: Path) -> tuple[float, int, list[str]]:
    """Seconds, bytes and modules that the client costs a new process."""
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environ, capture_output=True, text=True, check=True
    )
    seconds, size, *modules = ran.stdout.split()
    return float(seconds), int(size), modules


def test_client_is_small_and_there_at_once(tmp_path: Path) -> None:
    load(tmp_path)  # compiles
    runs = [load(tmp_path) for _ in range(TRIES)]
    assert min(size for _, size, _ in runs) <= MOST_BYTES
    patience.refresh()
    assert min(seconds for seconds, *_ in runs) <= patience.seconds(MOST_SECONDS)


def test_client_loads_the_standard_library_and_our_http_alone(tmp_path: Path) -> None:
    *_, modules = load(tmp_path)
    ours = {name for name in modules if name.startswith("quintant.")}
    allowed = ("quintant.agents", "quintant.http", "quintant.lazy")
    assert {name for name in ours if not name.startswith(allowed)} == set()
    others = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    assert others == {"quintant"}
