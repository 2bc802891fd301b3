"""Promises of the contract that keeps the programs of a cluster apart (`make lint` enforces it)."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAMS = {"controllers", "kubelet", "kubeproxy", "scheduler", "simulated", "volumes"}


def test_no_program_may_import_another_one() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = (
        each for each in settings["contracts"] if each.get("containers") == ["quintant.cluster"]
    )
    (layer,) = (each for each in contract["layers"] if "kubelet" in each)
    # With `|` the members of a layer are independent; with `:` they would not be.
    assert {each.strip() for each in layer.split("|")} == PROGRAMS
    assert contract["exhaustive"], "a new room has to take its place"
    assert "ignore_imports" not in contract
