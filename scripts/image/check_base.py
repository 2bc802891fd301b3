"""A step of the image's build: whether the lock files are for the base that was given.

    python check_base.py

They have wheels for one Python, one C library and two architectures. With another base pip would
find that no hash fits, and not say why.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

PYTHON = "3.11"
LIBRARY = "glibc"
MACHINES = ("x86_64", "aarch64")
"""All three as in scripts/hashes.py, which writes the lock files."""


@dataclass(frozen=True)
class Base:
    """What wheels are made for."""

    python: str
    library: str
    machine: str

    @classmethod
    def observe(cls) -> Base:
        """Look at the base in which this runs."""
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        return cls(python, platform.libc_ver()[0] or "another C library", platform.machine())


def complaint(base: Base) -> str:
    """Why nothing can be installed on a base, in three lines; nothing if it can."""
    if base.machine not in MACHINES:
        why = f"its architecture is {base.machine}, wheels are for {' and '.join(MACHINES)}"
        return _three_lines(why, f"build it on {' or '.join(MACHINES)}")
    if base.library != LIBRARY:
        return _three_lines(f"it has {base.library}, wheels are for {LIBRARY}", _another("Debian"))
    if base.python != PYTHON:
        return _three_lines(
            f"its Python is {base.python}, wheels are for {PYTHON}", _another(f"Python {PYTHON}")
        )
    return ""


def _three_lines(why: str, hint: str) -> str:
    return f"cannot build the image on this base\nbecause: {why}\ntry: {hint}"


def _another(wanted: str) -> str:
    return f"BASE=python:{PYTHON}-slim, or another base with {wanted}"


if __name__ == "__main__":
    sys.exit(complaint(Base.observe()) or None)
