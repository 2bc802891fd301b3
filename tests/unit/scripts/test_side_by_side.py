from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from side_by_side import (
    COVERING,
    NOTHING_SELECTED,
    REAL,
    ROOT,
    SELECTED,
    TESTS,
    Ended,
    Suite,
    arguments,
    parts_to_run,
    verdict,
)


def ended(**codes: int) -> list[Ended]:
    return [Ended(name, code, "", 0.0) for name, code in codes.items()]


def files_of(suite: Suite, name: str) -> set[Path]:
    """The test modules that pytest would collect for a part."""
    given = arguments(suite, name)
    ignored = [ROOT / each.removeprefix("--ignore=") for each in given if each.startswith("--")]
    found = set()
    for path in (ROOT / each for each in given if not each.startswith("--")):
        modules = [path] if path.is_file() else path.rglob("test_*.py")
        found |= {each for each in modules if not any(each.is_relative_to(out) for out in ignored)}
    return found


suites = pytest.mark.parametrize("suite", [TESTS, REAL], ids=["tests", "real"])


@suites
def test_every_test_is_in_one_part(suite: Suite) -> None:
    every = {path for folder in suite.folders for path in (ROOT / folder).rglob("test_*.py")}
    counted = Counter(path for name in suite.parts for path in files_of(suite, name))
    assert set(counted.values()) == {1}
    assert counted.keys() == every


@suites
def test_no_part_names_what_it_ignores(suite: Suite) -> None:
    for name in suite.parts:
        given = arguments(suite, name)
        ignored = {each.removeprefix("--ignore=") for each in given if each.startswith("--")}
        assert not ignored & set(given)


@suites
def test_every_part_has_tests(suite: Suite) -> None:
    assert [name for name in suite.parts if not files_of(suite, name)] == []


def test_parts_that_measure_are_parts() -> None:
    assert set(COVERING) <= TESTS.parts.keys()


@suites
def test_a_word_is_looked_for_by_one_process_in_every_folder(suite: Suite) -> None:
    assert parts_to_run(suite, "word", coverage=False, measured=False) == (SELECTED,)
    every = {path for name in suite.parts for path in files_of(suite, name)}
    assert files_of(suite, SELECTED) == every


def test_without_a_word_and_to_measure_there_are_parts() -> None:
    assert parts_to_run(TESTS, "", coverage=False, measured=False) == tuple(TESTS.parts)
    assert parts_to_run(TESTS, "word", coverage=True, measured=False) == tuple(TESTS.parts)
    assert parts_to_run(TESTS, "word", coverage=True, measured=True) == COVERING


def test_one_part_that_fails_fails_the_whole_and_is_named() -> None:
    assert verdict(TESTS, ended(a=0, b=1, c=NOTHING_SELECTED, d=2), "") == "failed: b, d"
    assert verdict(TESTS, ended(a=0, b=0), "") == ""


@pytest.mark.parametrize("codes", [{"a": 0, "b": NOTHING_SELECTED}, {"a": 0}])
def test_a_word_need_not_select_something_in_every_part(codes: dict[str, int]) -> None:
    assert verdict(TESTS, ended(**codes), "word") == ""


def test_a_word_that_selects_nothing_at_all_is_an_error() -> None:
    why = verdict(TESTS, ended(a=NOTHING_SELECTED, b=NOTHING_SELECTED), "word")
    assert why.endswith("is selected by K=word: nothing was run")
