"""Operators of others, explored: a known bug fails at its point, and its mended version does not.

Each row is the replay of one token, in a version that has the bug and in one that has not. What the
rows are about, and which could not be had, is in docs/found.md. Three mistakes of docs/mistakes.md
are made by operators of ours on kopf and on controller-runtime, and mended in their twins.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import envtest
import patience
from envtest import binaries, provide
from foreign import GoProgram, ProgramError, PythonProgram
from foreign import explored_operators as operators
from foreign.catalogue import KOPF
from interop.conftest import Aloud

SCENARIOS = Path(__file__).with_name("world")
DASK_CRDS = "dask_kubernetes/operator/deployment/helm/dask-kubernetes-operator/crds"
GO_CRDS = "config/crd/bases"
AS_WITHOUT, FAILS = 0, 1
"""What the command line ends with."""
RUN_SECONDS = 900
"""Three runs without faults and up to three with one, the longest of which never gets quiet."""
Program = GoProgram | PythonProgram

pytestmark = pytest.mark.realtime


ON_BOTH = ("940", "782", "finalizer", "workers")
"""Rows that are made before a real server as well."""
REAL = shlex.join(
    (
        "env",
        f"PYTHONPATH={Path(envtest.__file__).parents[1]}",
        sys.executable,
        *("-m", "envtest", "up", "--controllers", "--scheduler"),
    )
)


@dataclass(frozen=True)
class Row:
    """One point, in a version that has the bug and, as far as there is one, in another."""

    issue: str
    """Upstream's number, or a word for what is new."""
    scenario: str
    token: str
    operator: Program
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
STORAGE = "crash-after@delete:apps/statefulsets:default/r-server#1"
OLD_STORAGE = "rewind@ADDED:rabbitmq.com/rabbitmqclusters:default/other#1"
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
    Row(
        "782",
        "rabbitmq_storage.yaml",
        STORAGE,
        operators.RABBITMQ_1_5_0,
        'spec.resources.requests.storage is "10Gi", and should be "15Gi"',
    ),
    Row("782", "rabbitmq_storage.yaml", STORAGE, operators.RABBITMQ_1_10_0),
    Row(
        "653",
        "rabbitmq_shrink.yaml",
        OLD_STORAGE,
        operators.RABBITMQ_1_5_0,
        "by an old view it deletes 2 statefulsets.apps, and without faults 1",
    ),
    Row("653", "rabbitmq_shrink.yaml", OLD_STORAGE, operators.RABBITMQ_1_8_0),
)

FINALIZER = "lost@patch:kubernetes.dask.org/daskclusters:default/simple#1"
WORKER = "crash-after@create:pods:default/dask-worker-c-<1>#1"
NEW = (
    Row(
        "finalizer",
        "dask_cluster.yaml",
        FINALIZER,
        operators.DASK_2026_3_0,
        "daskclusters.kubernetes.dask.org default/simple.status is missing",
    ),
    Row(
        "workers",
        "gateway_waiting.yaml",
        WORKER,
        operators.DASK_GATEWAY_2026_3_0,
        "pods default/dask-worker-c-<3> is there, and should not be",
    ),
)
"""What exploration found, and nobody had told of: in the newest version of each."""


@pytest.mark.parametrize("row", [*ROWS, *NEW], ids=str)
def test_a_known_bug_shows_at_its_point_and_only_where_it_is(
    row: Row, aloud: Aloud, tmp_path: Path
) -> None:
    check(row, aloud, tmp_path)


@pytest.mark.parametrize("row", [each for each in (*ROWS, *NEW) if each.issue in ON_BOTH], ids=str)
def test_a_known_bug_shows_before_a_real_server_as_it_does_before_ours(
    row: Row, aloud: Aloud, tmp_path: Path
) -> None:
    with aloud():
        provide(os.environ, (*binaries.PAIR, binaries.MANAGER, binaries.SCHEDULER))
    # It keeps real time: who is much faster waits for it within time limits of its own.
    pace = ("--pace", "10") if isinstance(row.operator, PythonProgram) else ()
    check(row, aloud, tmp_path, "--server", REAL, *pace)


def check(row: Row, aloud: Aloud, folder: Path, *options: str) -> None:
    """Make the run of a row, and judge it."""
    command = prepared(row.operator, folder, aloud)
    given = (*options, row.scenario, "--replay", row.token)
    done = quintant(folder, "--command", command, *given)
    if not row.shows:
        assert done.returncode == AS_WITHOUT, done.stdout + done.stderr
        assert f"{row.token}: as without any fault" in done.stdout
        return
    assert done.returncode == FAILS, done.stdout + done.stderr
    assert f"{row.token} (3 of 3)" in done.stdout
    assert row.shows in done.stdout


MISTAKES = {
    "twice": "crash-after@create:configmaps:default/a#1",
    "early": "crash-after@patch:demo.dev/widgets/status:default/a#1",
    "conflict": "409@create:configmaps:default/a#1",
}
"""Each with the point at which its twin, without the mistake, is silent."""
FOUND = {"twice": "crash-after", "early": "crash-after", "conflict": "409"}
SAMPLE = ("--crds", "widgets.yaml", "--sample", "widget.yaml")
frameworks = pytest.mark.parametrize("framework", ["kopf", "controller-runtime"])


@frameworks
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_of_the_gallery_is_found_with_a_sample_alone(
    framework: str, mistake: str, aloud: Aloud, tmp_path: Path
) -> None:
    shutil.copytree(SCENARIOS, tmp_path, dirs_exist_ok=True)
    command = GALLERIES[framework](mistake, False, aloud)
    more = ("--mode", FOUND[mistake], "--first")
    done = quintant(tmp_path, "--command", command, *SAMPLE, *more)
    assert done.returncode == FAILS, done.stdout + done.stderr
    assert f"{FOUND[mistake]}@" in done.stdout
    assert "(3 of 3)" in done.stdout


@frameworks
@pytest.mark.parametrize("mistake", MISTAKES)
def test_its_twin_without_the_mistake_is_silent_at_that_point(
    framework: str, mistake: str, aloud: Aloud, tmp_path: Path
) -> None:
    shutil.copytree(SCENARIOS, tmp_path, dirs_exist_ok=True)
    command = GALLERIES[framework](mistake, True, aloud)
    done = quintant(tmp_path, "--command", command, *SAMPLE, "--replay", MISTAKES[mistake])
    assert done.returncode == AS_WITHOUT, done.stdout + done.stderr


def kopf_gallery(mistake: str, mended: bool, aloud: Aloud) -> str:
    variables = f"MISTAKE={mistake}" + (" MENDED=1" if mended else "")
    return f"env {variables} {shlex.quote(str(made(KOPF, aloud)))} -m kopf run -A gallery.py"


def go_gallery(mistake: str, mended: bool, aloud: Aloud) -> str:
    program = shlex.quote(str(made(operators.GALLERY, aloud)))
    options = f"--mistake {mistake}" + (" --mended" if mended else "")
    return f"{program} --kubeconfig {{kubeconfig}} {options}"


GALLERIES = {"kopf": kopf_gallery, "controller-runtime": go_gallery}


def quintant(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quintant", "explore", *words],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=patience.seconds(RUN_SECONDS),
    )


def prepared(operator: Program, folder: Path, aloud: Aloud) -> str:
    """The command line of an operator; a folder gets the scenarios, and its definitions."""
    program = made(operator, aloud)
    shutil.copytree(SCENARIOS, folder, dirs_exist_ok=True)
    if operator is not operators.DASK_GATEWAY_2026_3_0:
        (folder / "crds").symlink_to(definitions(operator, program))
    return COMMANDS[operator](operator).replace("PROGRAM", shlex.quote(str(program)))


def made(operator: Program, aloud: Aloud) -> Path:
    """The program, made if it is not there."""
    try:
        with aloud():
            return operator.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


def definitions(operator: Program, program: Path) -> Path:
    """As they were published."""
    if isinstance(operator, GoProgram):
        return operator.source(os.environ) / GO_CRDS
    [packages] = (program.parents[1] / "lib").glob("python3*/site-packages")
    return packages / DASK_CRDS


def dask(operator: Program) -> str:
    return "PROGRAM -m kopf run -A -m dask_kubernetes.operator.controller"


def dask_gateway(operator: Program) -> str:
    options = {
        "gateway_instance": "gateway",
        "api_url": "http://gateway/api",
        "address": "127.0.0.1:{port:api}",
    }
    given = " ".join(f"--KubeController.{name}={value}" for name, value in options.items())
    return f"PROGRAM -m dask_gateway_server.backends.kubernetes.controller {given}"


def rabbitmq(operator: Program) -> str:
    newer = operator is operators.RABBITMQ_1_10_0
    option = "--metrics-bind-address" if newer else "--metrics-addr"
    # It takes its second way to the server from a variable of its own.
    variables = "KUBE_CONFIG={kubeconfig} OPERATOR_NAMESPACE=default"
    return f"env {variables} PROGRAM {option} 127.0.0.1:{{port:metrics}}"


COMMANDS: dict[Program, Callable[[Program], str]] = {
    operators.DASK_2023_3_2: dask,
    operators.DASK_2023_6_0: dask,
    operators.DASK_2025_4_0: dask,
    operators.DASK_2025_4_3: dask,
    operators.DASK_2026_3_0: dask,
    operators.DASK_GATEWAY_2026_3_0: dask_gateway,
    operators.RABBITMQ_1_5_0: rabbitmq,
    operators.RABBITMQ_1_8_0: rabbitmq,
    operators.RABBITMQ_1_10_0: rabbitmq,
}
