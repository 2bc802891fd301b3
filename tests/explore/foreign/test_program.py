"""Exploring a program of another process that speaks plain HTTP: what is found, and what is left.

In real time, on a cluster of its own; no foreign framework is loaded.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

import patience

OPERATOR = Path(__file__).parents[2] / "testbeds" / "plain_operator.py"
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.demo.dev}
spec:
  group: demo.dev
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {message: {type: string}}}
            status: {type: object, properties: {child: {type: string}}}
"""
SAMPLE = """
apiVersion: demo.dev/v1
kind: Widget
metadata: {name: a}
spec: {message: hi}
"""
SCENARIO = """
crds: [crd.yaml]
steps: [{apply: sample.yaml}]
"""
PROCESSES = 6
"""Of two lives at least: keeper, program, and what the program started."""
LOOK_SECONDS = 0.05
UP = "-m quintant up --no-node --listen 127.0.0.1:0 --kubeconfig $TMPDIR/kubeconfig"
SERVER = ("--server", shlex.join(["sh", "-c", f"exec {shlex.quote(sys.executable)} {UP}"]))
"""Another process for every run, which is no embedded server to who explores."""
CREATE = "create:configmaps:default/a-<1>#1"
pytestmark = pytest.mark.realtime


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "crd.yaml").write_text(DEFINITION)
    (tmp_path / "sample.yaml").write_text(SAMPLE)
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    return tmp_path


def command(*options: str) -> str:
    program = [sys.executable, "-I", "-S", str(OPERATOR), "--kubeconfig", "{kubeconfig}"]
    return shlex.join([*program, *options])


def words(program: str, *options: str) -> list[str]:
    given = ["--command", program, "--jobs", "3", *options]
    return [sys.executable, "-m", "quintant", "explore", *given]


def explore(folder: Path, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words(program, *options),
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=patience.seconds(100),
    )


def test_a_child_that_is_made_twice_after_a_crash_is_found_with_a_sample_alone(
    folder: Path,
) -> None:
    given = ("--crds", "crd.yaml", "--sample", "sample.yaml", "--mode", "crash-after", "--first")
    done = explore(folder, command("--twice"), *given)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"crash-after@{CREATE} (3 of 3)" in done.stdout
    assert "configmaps default/a-<2> is there, and should not be" in done.stdout


def test_a_program_that_stands_everything_has_no_failure(folder: Path) -> None:
    given = ("scenario.yaml", "--mode", "crash-after", "--mode", "rewind")
    done = explore(folder, command("--poll", "3"), *given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "goes on at rest: patch widgets.demo.dev default/a" in done.stdout
    assert "; 0 failures" in done.stdout


def test_a_change_that_is_not_heeded_is_found_with_specs_of_the_definition(folder: Path) -> None:
    given = ("--crds", "crd.yaml", "--sample", "sample.yaml", "--specs", "1")
    done = explore(folder, command(), *given)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "(3 of 3): spec 1, reached in steps, is not what it is at once" in done.stdout
    assert "--replay 'undisturbed~specs=[{}," in done.stdout


def test_before_a_server_of_another_process_the_same_is_found(folder: Path) -> None:
    given = (*SERVER, "scenario.yaml", "--replay", f"crash-after@{CREATE}")
    done = explore(folder, command("--twice"), *given)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"crash-after@{CREATE} (3 of 3)" in done.stdout
    assert "configmaps default/a-<2> is there, and should not be" in done.stdout


def test_before_a_server_of_another_process_what_stands_old_views_has_no_failure(
    folder: Path,
) -> None:
    given = (*SERVER, "scenario.yaml", "--mode", "unobserved", "--mode", "rewind")
    done = explore(folder, command("--poll", "3"), *given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "goes on at rest: patch widgets.demo.dev default/a" in done.stdout
    assert "; 0 failures" in done.stdout


def test_a_command_that_starts_no_server_is_an_error_with_what_it_printed(folder: Path) -> None:
    for server, why in (("sh -c 'echo no; exit 3'", "it printed: no"), ("nowhere", "no program")):
        done = explore(folder, command(), "--server", server, "scenario.yaml")
        assert done.returncode == 1
        assert why in done.stderr
        assert "try: " in done.stderr


def test_what_another_run_without_faults_shows_as_well_is_no_failure(folder: Path) -> None:
    given = ("scenario.yaml", "--replay", "500@create:configmaps:default/a#1")
    done = explore(folder, command("--starts", str(folder / "starts")), *given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differs from itself, and is not compared: configmaps default/a.data" in done.stdout
    assert "500@create:configmaps:default/a#1: as without any fault" in done.stdout


def test_a_token_whose_point_never_comes_is_an_error_of_its_own(folder: Path) -> None:
    given = ("scenario.yaml", "--replay", "lost@create:pods:default/b#1")
    done = explore(folder, command("--twice"), *given)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the point never came: create:pods:default/b#1" in done.stderr


@pytest.mark.parametrize("server", [(), SERVER], ids=["embedded", "server"])
def test_nothing_is_left_of_a_run_that_is_killed(folder: Path, server: tuple[str, ...]) -> None:
    program = command("--leave-child")
    quintant = subprocess.Popen(
        words(program, *server, "scenario.yaml"),
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: len(operators(quintant.pid)) >= PROCESSES)
        started = operators(quintant.pid)
    finally:
        quintant.send_signal(signal.SIGKILL)
        quintant.wait()
    wait_until(lambda: not any(map(is_alive, started)))
    assert list(folder.glob("quintant-explore-*")) == []


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(int(patience.seconds(60) / LOOK_SECONDS)):
        if condition():
            return
        time.sleep(LOOK_SECONDS)
    raise AssertionError("it does not come")


def operators(pid: int) -> list[psutil.Process]:
    """What a process has started, and what that has."""
    return psutil.Process(pid).children(recursive=True)


def is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_a_program_that_ends_at_once_is_an_error_in_three_lines(folder: Path) -> None:
    done = explore(folder, "python3 -c 'import sys; print(42); sys.exit(3)'", "scenario.yaml")
    assert done.returncode == 1
    assert "because: it ended with code 3; it printed: 42" in done.stderr
    assert "try: " in done.stderr


def test_a_program_whose_time_runs_out_is_given_a_slower_clock_as_a_hint(folder: Path) -> None:
    done = explore(folder, "python3 -c 'raise TimeoutError'", "scenario.yaml")
    assert done.returncode == 1
    assert "try: a smaller --pace" in done.stderr
