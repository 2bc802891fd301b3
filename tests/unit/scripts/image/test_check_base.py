from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import hashes
from image.check_base import MACHINES, PYTHON, Base, complaint

GOOD = Base("3.11", "glibc", "x86_64")
STEP = Path(__file__).parents[4] / "scripts" / "image" / "check_base.py"


@pytest.mark.parametrize("machine", MACHINES)
def test_a_base_that_the_wheels_are_for_is_taken(machine: str) -> None:
    assert complaint(replace(GOOD, machine=machine)) == ""


@pytest.mark.parametrize(
    ("base", "why", "hint"),
    [
        (
            replace(GOOD, machine="riscv64"),
            "because: its architecture is riscv64, wheels are for x86_64 and aarch64",
            "try: build it on x86_64 or aarch64",
        ),
        (
            replace(GOOD, library="another C library"),
            "because: it has another C library, wheels are for glibc",
            "try: BASE=python:3.11-slim, or another base with Debian",
        ),
        (
            replace(GOOD, python="3.13"),
            "because: its Python is 3.13, wheels are for 3.11",
            "try: BASE=python:3.11-slim, or another base with Python 3.11",
        ),
    ],
)
def test_another_base_is_refused_in_three_lines(base: Base, why: str, hint: str) -> None:
    assert complaint(base).splitlines() == ["cannot build the image on this base", why, hint]


def test_what_is_checked_is_what_the_lock_files_were_written_for() -> None:
    assert (MACHINES, PYTHON) == (hashes.MACHINES, hashes.PYTHON)


def test_the_step_ends_the_build_where_there_is_a_complaint() -> None:
    done = subprocess.run([sys.executable, STEP], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == complaint(Base.observe())
    assert done.returncode == bool(complaint(Base.observe()))
