"""`python -m benchmarks [name …]`: run benchmarks and print their tables.

Tables go to standard output, progress to standard error.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import psutil

from benchmarks.sizes import Sizes, names
from foreign.errors import ProgramError

BENCHMARKS = (
    "imports",
    "dependencies",
    "environment",
    "handwritten",
    "workqueue",
    "tracing",
    "cache",
    "sync",
    "client",
    "testcase",
    "explore",
    "world",
    "embedded",
    "alternatives",
    "reads",
    "crds",
    "snapshot",
    "hostile",
    "nodes",
    "lightpeers",
    "klight",
    "masking",
    "portal",
    "portal_operator",
    "shifu",
    "console",
    "clusters",
    "cosmos",
    "reconcile",
    "restart",
    "shards",
    "preview",
    "namespaces",
    "staleness",
    "kopf",
)

MODULES = {"explore": "exploration", "cosmos": "cosmos.tables", "kopf": "kopf_handlers"}
"""Benchmarks whose modules have another name: tests/explore is beside them on the path, and one
is a folder whose parts are programs of their own."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no child outlives us
    given = {name: getattr(options, name) for name in names()}
    chosen = {name: value for name, value in given.items() if value is not None}
    sizes = replace(Sizes().quick() if options.quick else Sizes(), **chosen)
    print(_machine(), flush=True)
    for name in options.benchmark or BENCHMARKS:
        began = time.monotonic()
        try:
            _run(name, sizes)
        except ProgramError as error:
            _say(f"{name} left out: {error}")
        _say(f"{name}: {time.monotonic() - began:.0f} s")
    return 0


def _run(name: str, sizes: Sizes) -> None:
    for table in importlib.import_module(f"benchmarks.{MODULES.get(name, name)}").run(sizes, _say):
        print(f"\n{table}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Measure, beside our peers.")
    parser.add_argument("benchmark", nargs="*", help=f"some of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    for name in names():
        parser.add_argument(f"--{name}", type=int, help=f"instead of {getattr(Sizes(), name):,}")
    return parser


def _machine() -> str:
    load = ", ".join(f"{value:.1f}" for value in psutil.getloadavg())
    return (
        f"{psutil.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}; load before the run: {load}"
    )


def _say(text: str) -> None:
    print(f"· {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
