"""What a program in a pod pays for the client: little, beyond the event loop that it has anyway."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MOST_BYTES = 3_000_000
MOST_MODULES = 50
TRIES = 3
PROGRAM = """
import asyncio, sys
before = set(sys.modules)
pages = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096
size = pages()
import quintant.agents.apiclient.client
print(pages() - size, *(set(sys.modules) - before))
"""


def load(cache: Path) -> tuple[int, list[str]]:
    """Bytes and modules that the client costs a new process."""
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environ, capture_output=True, text=True, check=True
    )
    size, *modules = ran.stdout.split()
    return int(size), modules


def test_client_is_small_and_loads_little(tmp_path: Path) -> None:
    load(tmp_path)  # compiles
    runs = [load(tmp_path) for _ in range(TRIES)]
    assert min(size for size, _ in runs) <= MOST_BYTES
    assert max(len(modules) for _, modules in runs) <= MOST_MODULES


def test_client_loads_the_standard_library_and_our_http_alone(tmp_path: Path) -> None:
    _, modules = load(tmp_path)
    ours = {name for name in modules if name.startswith("quintant.")}
    allowed = ("quintant.agents", "quintant.early_python311", "quintant.http", "quintant.lazy")
    assert {name for name in ours if not name.startswith(allowed)} == set()
    others = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    assert others == {"quintant"}
