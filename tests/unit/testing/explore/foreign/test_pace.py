"""A program that is linked dynamically keeps the pace; what cannot says so."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.exploration import choose_pace
from quintant.testing.explore.foreign.pace import (
    ProgramKind,
    cache_folder,
    clock_library,
    pace_variables,
    program_kind,
)
from quintant.testing.explore.foreign.paced_loop import PaceOrigin
from quintant.testing.explore.foreign.program import ForeignCommand

WAITING = """
import select, threading, time
began, wall = time.monotonic(), time.time()
time.sleep(20)
select.select([], [], [], 20)
threading.Event().wait(20)
print(int(time.monotonic() - began), int(time.time() - wall))
"""
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@needs_cc
def test_a_python_program_waits_so_much_shorter_and_does_not_know() -> None:
    library = clock_library(cache_folder())
    variables = pace_variables(library, PaceOrigin.now(100.0))
    program = [sys.executable, "-I", "-S", "-c", WAITING]
    done = subprocess.run(program, env=dict(variables), capture_output=True, text=True, timeout=50)
    monotonic, wall = map(int, done.stdout.split())
    assert monotonic >= 60, done.stderr
    assert abs(monotonic - wall) <= 1


def test_kinds_of_programs_are_known_by_their_files(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!{sys.executable} -u\n")
    go = tmp_path / "manager"
    go.write_bytes(b"\x7fELF" + bytes(100) + b"\xff Go buildinf:")
    static = tmp_path / "static"
    static.write_bytes(b"\x7fELF" + bytes(100))
    assert program_kind(Path(sys.executable)) is ProgramKind.DYNAMIC
    assert program_kind(script) is ProgramKind.DYNAMIC
    assert program_kind(go) is ProgramKind.GO
    assert program_kind(static) is ProgramKind.STATIC
    assert program_kind(tmp_path / "absent") is ProgramKind.UNKNOWN


def test_a_go_program_runs_in_real_time_and_cannot_be_made_faster(tmp_path: Path) -> None:
    go = tmp_path / "manager"
    go.write_bytes(b"\x7fELF\xff Go buildinf:")
    go.chmod(0o755)
    command = ForeignCommand((str(go),))
    assert choose_pace(command, None).pace == 1.0
    assert "real time" in choose_pace(command, None).reason
    with pytest.raises(ConfigError, match="written in Go"):
        choose_pace(command, 30.0)


def test_without_a_compiler_the_clock_is_missed_in_three_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="there is no C compiler") as error:
        clock_library(tmp_path)
    assert "--pace 1" in error.value.hint
