"""Tests of others are built once, beside a copy of the source that they read; without Go."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from foreign.errors import ProgramError
from foreign.go_program import GoProgram
from foreign.go_tests import GoTests
from foreign.source_change import SourceChange

# Stands for Go: knows the folder of a module, and "builds" a program that says where it was.
GO = """\
#!/bin/sh
echo "$1" >> "$CALLS"
case "$1" in
mod) printf '%s' '{"Dir": "'"$MODULE"'"}' ;;
test) source=$3
      while [ "$1" != -o ]; do shift; done
      [ -d "$source/$3" ] || exit 1
      printf '#!/bin/sh\\necho %s %s\\n' "$source" "$3" > "$2"
      chmod 755 "$2" ;;
esac
"""
TOOL = GoProgram("tool", "example.com/tool", "v1.2.3")


TESTS = GoTests(TOOL)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The variables of a machine whose Go is a script, and whose module is read-only."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/go").write_text(GO)
    (tmp_path / "bin/go").chmod(0o755)
    path = tmp_path / "module/pkg/a_test.go"
    path.parent.mkdir(parents=True)
    path.write_text("package x\n")
    path.parent.chmod(0o555)
    return {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "QUINTANT_CACHE": str(tmp_path / "cache"),
        "CALLS": str(tmp_path / "calls"),
        "MODULE": str(tmp_path / "module"),
    }


def quiet(line: str) -> None:
    """Nobody reads it."""


def test_the_copy_may_be_written(environ: dict[str, str]) -> None:
    source = TESTS.source(environ, report=quiet)
    assert (source / "pkg/a_test.go").read_text() == "package x\n"
    (source / "pkg/beside").write_text("a test's")
    assert TESTS.source(environ, report=quiet) == source
    assert (source / "pkg/beside").exists()


def test_changes_and_files_of_ours_are_in_a_copy_of_their_own(environ: dict[str, str]) -> None:
    change = SourceChange("pkg/a_test.go", "package x", "package y")
    changed = replace(TESTS, changes=(change,), added=(("pkg/b_test.go", "package y\n"),))
    source = changed.source(environ, report=quiet)
    assert (source / "pkg/a_test.go").read_text() == "package y\n"
    assert (source / "pkg/b_test.go").read_text() == "package y\n"
    assert (TESTS.source(environ, report=quiet) / "pkg/a_test.go").read_text() == "package x\n"


def test_tests_are_built_once_in_the_copy(environ: dict[str, str]) -> None:
    program = TESTS.provide("pkg", environ, report=quiet)
    assert TESTS.provide("pkg", environ, report=quiet) == program
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said == f"{TESTS.source(environ, report=quiet)} ./pkg\n"
    assert Path(environ["CALLS"]).read_text().split() == ["mod", "test"]


def test_tests_find_their_source_by_the_path_of_their_module(environ: dict[str, str]) -> None:
    folder = TESTS.folder("pkg", environ, report=quiet)
    assert TESTS.folder("pkg", environ, report=quiet) == folder
    assert (folder / "a_test.go").exists()
    assert (folder / "example.com/tool/pkg/a_test.go").exists()


def test_a_package_that_cannot_be_built_is_an_error(environ: dict[str, str]) -> None:
    with pytest.raises(ProgramError, match="failed building the tests of tool's other"):
        TESTS.provide("other", environ, report=quiet)
