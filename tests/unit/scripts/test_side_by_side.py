from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from side_by_side import (
    COVERING,
    FOLDERS,
    NOTHING_SELECTED,
    PARTS,
    ROOT,
    SELECTED,
    Ended,
    arguments,
    parts_to_run,
    verdict,
)


def ended(**codes: int) -> list[Ended]:
    return [Ended(name, code, "", 0.0) for name, code in codes.items()]


def files_of(name: str) -> set[Path]:
    """The test modules that pytest would collect for a part."""
    given = arguments(name)
    ignored = [ROOT / each.removeprefix("--ignore=") for each in given if each.startswith("--")]
    found = set()
    for path in (ROOT / each for each in given if not each.startswith("--")):
        modules = [path] if path.is_file() else path.rglob("test_*.py")
        found |= {each for each in modules if not any(each.is_relative_to(out) for out in ignored)}
    return found


def test_every_test_is_in_one_part() -> None:
    every = {path for folder in FOLDERS for path in (ROOT / folder).rglob("test_*.py")}
    counted = Counter(path for name in PARTS for path in files_of(name))
    assert set(counted.values()) == {1}
    assert counted.keys() == every


def test_no_part_names_what_it_ignores() -> None:
    for name in PARTS:
        given = arguments(name)
        ignored = {each.removeprefix("--ignore=") for each in given if each.startswith("--")}
        assert not ignored & set(given)


def test_every_part_has_tests() -> None:
    assert [name for name in PARTS if not files_of(name)] == []
    assert set(COVERING) <= PARTS.keys()


def test_a_word_is_looked_for_by_one_process_in_every_folder() -> None:
    assert parts_to_run("word", coverage=False, measured=False) == (SELECTED,)
    assert files_of(SELECTED) == {path for name in PARTS for path in files_of(name)}


def test_without_a_word_and_to_measure_there_are_parts() -> None:
    assert parts_to_run("", coverage=False, measured=False) == tuple(PARTS)
    assert parts_to_run("word", coverage=True, measured=False) == tuple(PARTS)
    assert parts_to_run("word", coverage=True, measured=True) == COVERING


def test_one_part_that_fails_fails_the_whole_and_is_named() -> None:
    assert verdict(ended(a=0, b=1, c=NOTHING_SELECTED, d=2), "") == "failed: b, d"
    assert verdict(ended(a=0, b=0), "") == ""


@pytest.mark.parametrize("codes", [{"a": 0, "b": NOTHING_SELECTED}, {"a": 0}])
def test_a_word_need_not_select_something_in_every_part(codes: dict[str, int]) -> None:
    assert verdict(ended(**codes), "word") == ""


def test_a_word_that_selects_nothing_at_all_is_an_error() -> None:
    why = verdict(ended(a=NOTHING_SELECTED, b=NOTHING_SELECTED), "word")
    assert why.endswith("is selected by K=word: nothing was run")
