"""Operators of others, explored: a known bug fails at its point, and its mended version does not.

Each row is the replay of one token, in a version that has the bug and in one that has not. What the
rows are about, and which could not be had, is in docs/found.md.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import patience
from foreign import ProgramError, PythonProgram
from foreign import explored_operators as operators
from interop.conftest import Aloud

SCENARIOS = Path(__file__).with_name("world")
DASK_CRDS = "dask_kubernetes/operator/deployment/helm/dask-kubernetes-operator/crds"
AS_WITHOUT, FAILS = 0, 1
"""What the command line ends with."""
RUN_SECONDS = 900
"""Three runs without faults and up to three with one, the longest of which never gets quiet."""

pytestmark = pytest.mark.realtime


@dataclass(frozen=True)
class Row:
    """One point, in a version that has the bug and, as far as there is one, in another."""

    issue: str
    """Upstream's number."""
    scenario: str
    token: str
    operator: PythonProgram
    shows: str = ""
    """What the story says where the bug is; empty where it is mended."""

    def __str__(self) -> str:
        return f"{self.operator.name}-{self.issue}"


JOB = "lost@create:kubernetes.dask.org/daskclusters:default/job#1"
GROUP = "500@create:kubernetes.dask.org/daskworkergroups:default/simple-default#1"
SCHEDULER = "create:pods:default/simple-scheduler#1"
DEPLOYED = "create:apps/deployments:default/simple-scheduler#1"
"""The same write, since the scheduler is no longer a bare Pod."""
TWICE = "is answered with 409"
ROWS = (
    Row("654", "dask_cluster.yaml", f"crash-after@{SCHEDULER}", operators.DASK_2023_3_2, TWICE),
    Row("654", "dask_cluster.yaml", f"lost@{SCHEDULER}", operators.DASK_2023_3_2, TWICE),
    Row("654", "dask_cluster.yaml", f"crash-after@{DEPLOYED}", operators.DASK_2023_6_0),
    Row("654", "dask_cluster.yaml", f"lost@{DEPLOYED}", operators.DASK_2023_6_0),
    Row("940", "dask_job.yaml", JOB, operators.DASK_2025_4_0, TWICE),
    Row("940", "dask_job.yaml", JOB, operators.DASK_2025_4_3),
    Row(
        "976",
        "dask_cluster.yaml",
        GROUP,
        operators.DASK_2026_3_0,
        "daskworkergroups.kubernetes.dask.org default/simple-default is missing",
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_known_bug_shows_at_its_point_and_only_where_it_is(
    row: Row, aloud: Aloud, tmp_path: Path
) -> None:
    command = prepared(row.operator, tmp_path, aloud)
    done = quintant(tmp_path, "--command", command, row.scenario, "--replay", row.token)
    if not row.shows:
        assert done.returncode == AS_WITHOUT, done.stdout + done.stderr
        assert f"{row.token}: as without any fault" in done.stdout
        return
    assert done.returncode == FAILS, done.stdout + done.stderr
    assert f"{row.token} (3 of 3)" in done.stdout
    assert row.shows in done.stdout


def quintant(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quintant", "explore", *words],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=patience.seconds(RUN_SECONDS),
    )


def prepared(operator: PythonProgram, folder: Path, aloud: Aloud) -> str:
    """The command line of an operator; a folder gets the scenarios, and its definitions."""
    try:
        with aloud():
            program = operator.provide(os.environ)
            crds = definitions(program)
    except ProgramError as error:
        pytest.skip(str(error))
    shutil.copytree(SCENARIOS, folder, dirs_exist_ok=True)
    (folder / "crds").symlink_to(crds)
    return COMMANDS[operator].replace("PROGRAM", shlex.quote(str(program)))


def definitions(program: Path) -> Path:
    """As they were published."""
    [packages] = (program.parents[1] / "lib").glob("python3*/site-packages")
    return packages / DASK_CRDS


DASK = "PROGRAM -m kopf run -A -m dask_kubernetes.operator.controller"
COMMANDS = {
    operators.DASK_2023_3_2: DASK,
    operators.DASK_2023_6_0: DASK,
    operators.DASK_2025_4_0: DASK,
    operators.DASK_2025_4_3: DASK,
    operators.DASK_2026_3_0: DASK,
}
