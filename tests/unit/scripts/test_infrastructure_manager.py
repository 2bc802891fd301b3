"""What the launcher of Infrastructure Manager promises, without it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from foreign.catalogue import IM
from infrastructure_manager import DummyFaults, InfrastructureManager, Ledger
from infrastructure_manager.users import write_users

ROOT = Path(__file__).parents[3]
FOLDERS = ("src", "scripts", "tests", "benchmarks", "examples")


def _imports_it(path: Path) -> bool:
    names = [
        name
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    return any(name == "IM" or name.startswith("IM.") for name in names)


def test_only_the_script_in_its_own_environment_imports_it() -> None:
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    found = [path.relative_to(ROOT).as_posix() for path in files if _imports_it(path)]
    assert found == ["scripts/infrastructure_manager/inside.py"]


def test_every_package_of_it_is_pinned_and_nothing_else_is_installed() -> None:
    assert IM.complete
    assert all("==" in each for each in IM.requirements)
    assert IM.requirements[0] == "IM==2.0.0"


def test_faults_are_read_whole_and_taken_back(tmp_path: Path) -> None:
    manager = InfrastructureManager(tmp_path / "im")
    manager.set_faults(DummyFaults(launch_delay=2, states={"1": "failed"}))
    written = (tmp_path / "im" / "faults.json").read_text()
    assert '"launch_delay": 2' in written
    assert '"states": {"1": "failed"}' in written
    manager.set_faults()
    assert '"launch_delay": 0' in (tmp_path / "im" / "faults.json").read_text()


def test_ledger_knows_the_machines_that_were_made_and_not_ended(tmp_path: Path) -> None:
    assert Ledger.read(tmp_path) == Ledger()
    (tmp_path / "ledger.log").write_text("launching a\nmade a/0\nmade a/1\nended a/0\n")
    assert Ledger.read(tmp_path) == Ledger(frozenset({"a"}), frozenset({"a/1"}))


def test_users_are_written_as_it_reads_them(tmp_path: Path) -> None:
    path = write_users(tmp_path / "users.json", {"a": "b"})
    assert path.read_text() == '{"users": [{"username": "a", "password": "b"}]}'


def test_manager_that_does_not_run_has_no_process(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="is not running"):
        _ = InfrastructureManager(tmp_path).pid
