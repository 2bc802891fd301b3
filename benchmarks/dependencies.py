"""What each dependency costs: its files, and a process that loads what we load of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path

from benchmarks.imports import REPEATS, import_cost
from benchmarks.report import Table
from benchmarks.sizes import Sizes
from processes.usage import MEGABYTE

BASE = "import asyncio, ssl"
DEPENDENCIES = {
    "msgspec": "import msgspec",
    "uvloop": "import uvloop",
    "structlog": "import structlog",
    "PyYAML": "import yaml",
    "websockets": "import websockets.speedups",
    "google-re2": "import re2",
    "cel-expr-python": "import cel_expr_python.cel",
    "cryptography": "import cryptography.x509, cryptography.hazmat.primitives.asymmetric.ec",
    "click": "import click",
    "rich": "import rich.console, rich.live, rich.table",
    "grpcio": "import grpc.aio",
}
METHOD = (
    "files as installed, without what they depend on themselves; a fresh interpreter that loads "
    "asyncio and ssl and then the package, the median of {repeats} runs, less one that loads "
    "nothing further."
)


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure all of them; there is nothing to repeat more often."""
    del sizes
    seconds, megabytes = import_cost(BASE)
    rows = []
    for name, statement in DEPENDENCIES.items():
        say(f"dependencies: {name}")
        more, larger = import_cost(f"{BASE}\n{statement}")
        cost = f"{(more - seconds) * 1000:.0f} ms", f"{larger - megabytes:.1f} MB"
        rows.append((name, f"{_files(name):.1f} MB", *cost))
    method = METHOD.format(repeats=REPEATS)
    yield Table("Dependencies", method, ("", "files", "CPU", "memory"), rows)


def _files(name: str) -> float:
    """The megabytes that a package has on disk."""
    files = distribution(name).files or ()
    paths = [Path(str(each.locate())) for each in files if each.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.exists()) / MEGABYTE
