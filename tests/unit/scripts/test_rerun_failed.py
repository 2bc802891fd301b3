from __future__ import annotations

import os
from pathlib import Path

import pytest

from rerun_failed import CACHE, MOST_FLAKY, PytestRun, captured, failed_tests, run_and_rerun

FLAKY_TEST = """
from pathlib import Path

def test_second_time(tmp_path):
    mark = Path(__file__).with_name("ran")
    ran = mark.exists()
    mark.touch()
    assert ran

def test_steady():
    pass
"""


def run(path: Path) -> PytestRun:
    arguments = ["--rootdir", str(path.parent), "-c", os.devnull, str(path)]
    return run_and_rerun(path.name, arguments, captured(os.environ))


def write_test(folder: Path, text: str) -> Path:
    path = folder / f"test_{folder.name}.py"
    path.write_text(text)
    return path


def test_a_test_that_passes_the_second_time_is_named_and_fails_nothing(tmp_path: Path) -> None:
    ended = run(write_test(tmp_path, FLAKY_TEST))
    assert ended.code == 0
    assert "FLAKY, passed when it was run again" in ended.output
    assert "1 failed, 1 passed" in ended.output
    assert "1 passed, 1 deselected" in ended.output


def test_a_test_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    ended = run(write_test(tmp_path, "def test_wrong():\n    assert False\n"))
    assert ended.code == 1
    assert "FLAKY" not in ended.output


def test_many_failures_at_once_are_not_taken_for_bad_luck(tmp_path: Path) -> None:
    many = FLAKY_TEST.replace("(tmp_path)", "(number)")
    many = f"import pytest\n{many}".replace(
        "def test_second",
        f"@pytest.mark.parametrize('number', range({MOST_FLAKY + 1}))\ndef test_second",
    ).replace('"ran"', 'f"ran{number}"')
    ended = run(write_test(tmp_path, many))
    assert ended.code == 1
    assert f"{MOST_FLAKY + 1} failed, 1 passed" in ended.output


def test_what_cannot_be_collected_is_not_run_again(tmp_path: Path) -> None:
    ended = run(write_test(tmp_path, "import nothing_of_this_name\n"))
    assert ended.code == pytest.ExitCode.INTERRUPTED


def test_a_run_without_failures_has_none_on_record(tmp_path: Path) -> None:
    path = write_test(tmp_path, "def test_right():\n    pass\n")
    assert run(path).code == 0
    assert failed_tests(CACHE / path.name) == []
