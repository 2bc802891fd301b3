"""Testing a controller needs a cluster, a thread, and patience; and a typo makes it hang.

A whole controller is tested in one process: custom resource, child, status, without a socket and
without waiting. What cannot even be imported fails at once.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

import patience
from quintant import Context, Manager
from quintant.api.core import ConfigMap
from quintant.core.errors import ConfigError
from quintant.runtime.manager.loading import load_manager
from quintant.testing import InProcessCluster, reconcile_once
from scenarios.greeter import Greeter, GreeterStatus, greeter, greeter_manager, reconcile

# Of real time, for the test of a whole controller; a slow machine exceeds it, a slow design by far.
BUDGET_MILLISECONDS = 50
# Of real time, for a program to start and give up.
PATIENCE_SECONDS = 30


async def test_whole_controller_is_tested_within_its_budget(
    cluster: InProcessCluster, record_property: Any
) -> None:
    record_property("budget_ms", BUDGET_MILLISECONDS)
    await cluster.run(greeter_manager())
    await cluster.create(greeter("a", "hello"))
    child = await cluster.eventually(ConfigMap, "a")
    assert child.data == {"text": "hello"}
    done = await cluster.eventually(Greeter, "a", until=lambda obj: obj.status is not None)
    assert done.status == GreeterStatus(greeted=True)


def test_single_reconcile_is_tested_without_a_loop() -> None:
    outcome = reconcile_once(greeter_manager(), greeter("a", "hello"))
    assert [(write.resource, write.name, write.sub) for write in outcome.writes] == [
        ("configmaps", "a", ""),
        ("greeters", "a", "status"),
    ]


async def test_nothing_listens_or_connects_while_a_controller_is_tested(
    cluster: InProcessCluster,
) -> None:
    process = psutil.Process()
    before = len(process.net_connections("all"))
    during: list[tuple[int, int]] = []
    manager = Manager("greeter", leader_elect=True)

    async def count(obj: Greeter, ctx: Context[Greeter]) -> None:
        await reconcile(obj, ctx)
        during.append((len(process.net_connections("all")), process.num_threads()))

    threads = process.num_threads()
    manager.controls(Greeter).owns(ConfigMap).reconcile(count)
    await cluster.run(manager)
    await cluster.create(greeter("a"))
    await cluster.eventually(Greeter, "a", until=lambda obj: obj.status is not None)

    assert set(during) == {(before, threads)}


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("from quintant import Contxt", "cannot import name 'Contxt'"),
        ("manager = Manager('x'", "'(' was never closed"),
    ],
)
def test_program_that_cannot_be_imported_says_why(tmp_path: Path, text: str, because: str) -> None:
    path = tmp_path / "typo.py"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_manager(str(path))
    sys.path.remove(str(tmp_path))
    assert because in raised.value.because


def test_program_that_cannot_be_imported_ends_at_once(tmp_path: Path) -> None:
    path = tmp_path / "typo.py"
    path.write_text("import nothing_of_that_name")
    command = [sys.executable, "-c", "from quintant.cli import main; main()", "run", str(path)]
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=patience.seconds(PATIENCE_SECONDS),
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"cannot load {path}")


async def test_defect_in_a_side_task_ends_the_test_with_its_error(
    cluster: InProcessCluster,
) -> None:
    manager = greeter_manager()

    async def side(client: object) -> None:
        raise RuntimeError("typo")

    manager.add(side)
    with pytest.raises(ExceptionGroup) as raised:
        await cluster.run(manager)
    assert raised.group_contains(RuntimeError, match="typo", depth=1)
