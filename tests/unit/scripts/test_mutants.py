"""The mutants are what they say: each changes one place of the source as it is now."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutants.catalogue import EXPLORE, SERVER, SHARDS, Checks, Mutant, read, together

ROOT = Path(__file__).parents[3]


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    assert len(read(SERVER)) >= 37
    assert len(read(EXPLORE)) >= 8
    assert len(read(SHARDS)) >= 14
    assert len({mutant.name for mutant in read()}) == len(read())


@pytest.mark.parametrize("mutant", read(), ids=lambda mutant: mutant.name)
def test_what_a_mutant_changes_is_there_once(mutant: Mutant) -> None:
    changed = mutant.applied((ROOT / mutant.path).read_text())
    compile(changed, mutant.file, "exec")
    assert mutant.new in changed


@pytest.mark.parametrize("mutant", read(), ids=lambda mutant: mutant.name)
def test_what_must_catch_a_mutant_is_there(mutant: Mutant) -> None:
    assert mutant.caught
    for test in mutant.caught:
        path, _, name = test.partition("::")
        assert f"def {name}" in (ROOT / path).read_text()


def test_what_is_there_twice_is_no_place_for_a_mutant() -> None:
    with pytest.raises(ValueError, match="not there once"):
        Mutant("m", "f.py", "a", "b", ()).applied("a a")


def test_only_conformance_is_held_to_the_embedded_server() -> None:
    assert "embedded" in Checks(("tests/conformance/test_x.py",)).arguments
    assert "embedded" not in Checks(("tests/unit/test_x.py",)).arguments


def test_tests_that_need_no_mutant_are_run_once_and_together() -> None:
    tests = ["tests/unit/a.py", "tests/conformance/b.py", "tests/unit/c.py", "tests/unit/a.py"]
    runs = together(tests, workers=2)
    assert [run.tests for run in runs] == [
        ("tests/conformance/b.py",),
        ("tests/unit/a.py",),
        ("tests/unit/c.py",),
    ]
    assert together(["tests/unit/a.py"], workers=2) == [Checks(("tests/unit/a.py",))]
