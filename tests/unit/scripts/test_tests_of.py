"""Tests of a source are found by its path, and where there are none, the path is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests_of import NoTests, find_tests

FILES = (
    "src/quintant/core/__init__.py",
    "src/quintant/core/clock.py",
    "src/quintant/core/bare.py",
    "src/quintant/empty/__init__.py",
    "src/quintant/operators/portal/plan.py",
    "scripts/hashes.py",
    "tests/unit/core/test_clock.py",
    "tests/unit/core/test_core.py",
    "tests/unit/test_core.py",
    "tests/unit/operators/portal/test_plan.py",
    "tests/unit/scripts/test_hashes.py",
    "tests/operators/portal/test_life.py",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with a few modules and tests."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("src/quintant/core/clock.py", ["tests/unit/core/test_clock.py"]),
        ("core/clock.py", ["tests/unit/core/test_clock.py"]),
        (
            "src/quintant/core/__init__.py",
            ["tests/unit/core/test_core.py", "tests/unit/test_core.py"],
        ),
        ("src/quintant/core/", ["tests/unit/core", "tests/unit/test_core.py"]),
        ("operators/portal", ["tests/unit/operators/portal", "tests/operators/portal"]),
        ("scripts/hashes.py", ["tests/unit/scripts/test_hashes.py"]),
        ("tests/operators/portal/test_life.py", ["tests/operators/portal/test_life.py"]),
    ],
)
def test_source_leads_to_its_tests(root: Path, name: str, tests: list[str]) -> None:
    assert find_tests(root, name) == list(map(Path, tests))
    assert (
        find_tests(root, str(root / name)) == list(map(Path, tests)) or not (root / name).exists()
    )


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("core/bare.py", "there is no tests/unit/core/test_bare.py"),
        ("empty", "there is no tests/unit/empty or tests/unit/test_empty.py"),
        ("core/gone.py", "there is no such file or folder"),
        ("/etc/hosts", "there is no such file or folder"),
    ],
)
def test_source_without_tests_names_what_was_looked_for(
    root: Path, name: str, because: str
) -> None:
    with pytest.raises(NoTests, match=f"cannot find tests of {name}\nbecause: {because}\ntry: "):
        find_tests(root, name)
