"""A controller takes hundreds of megabytes before it has done anything.

Half of it is imports, the rest are whole objects of which a controller needs three fields, held
twice while they are read.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from examples_support import EXAMPLES
from scenarios import many_pods_program, many_pods_server
from scenarios.program import running
from scenarios.server import served
from scenarios.usage import MEGABYTE

pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]

FIRST_PASS = "controller_runtime_reconcile_total"
IDLE_BYTES = 60 * MEGABYTE
CROWD_BYTES = 100 * MEGABYTE
# What is read first is decoded as it comes, so there is never a second copy.
PEAK_FACTOR = 1.3


async def test_idle_controller_is_small(tmp_path: Path) -> None:
    greeter = EXAMPLES / "01_greeter.py"
    with (
        served(tmp_path) as server,
        running(greeter, server.kubeconfig, "--install-crds") as program,
    ):
        await program.ready()
        assert program.memory <= IDLE_BYTES


async def test_thousands_of_objects_fit_and_are_never_held_twice(tmp_path: Path) -> None:
    with (
        served(tmp_path, Path(many_pods_server.__file__)) as server,
        running(Path(many_pods_program.__file__), server.kubeconfig) as program,
    ):
        await program.ready()
        await program.counted(FIRST_PASS, many_pods_server.PODS, controller="pod", result="success")
        assert await program.sample("quintant_cache_objects", kind="pods") == many_pods_server.PODS
        assert program.peak < CROWD_BYTES
        assert program.peak < PEAK_FACTOR * program.memory
