"""Trials: a copy of the tree, and what its tests say of it.

The copy is made once per worker and is whole again after every trial. Its bytecode goes by the hash
of its source: no run compiles what did not change, and none takes the bytecode of another state. A
test run that could not even begin (exit code 2 and above) proves nothing, and is told apart from
one that failed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from compileall import compile_dir
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from py_compile import PycInvalidationMode

from mutants.catalogue import Checks, Mutant

PARTS = ("src", "scripts", "tests", "benchmarks", "examples", "pyproject.toml")
"""What of the tree the tests need."""
TRIAL_SECONDS = 300.0
"""After that a test run is stopped: a mutant that makes the server hang is caught."""
SOUND_SECONDS = 1200.0
"""The same for the tests of many mutants together on the tree as it is, on a busy machine."""
_CACHES = shutil.ignore_patterns("__pycache__", ".*_cache")


class Outcome(Enum):
    """What became of a test run."""

    GREEN = "green"
    RED = "red"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Trial:
    """A test run, and how long it took."""

    outcome: Outcome
    seconds: float
    told: str = ""
    """What the tests printed."""


class Copy:
    """A copy of the tree in which mistakes can be made."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._folder = folder
        for part in PARTS:
            source = root / part
            if source.is_dir():
                shutil.copytree(source, folder / part, ignore=_CACHES)
            else:
                shutil.copy(source, folder / part)
        compile_dir(folder, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)

    def sound(self, checks: Checks) -> Trial:
        """Run tests on the tree as it is."""
        return self._run(checks, SOUND_SECONDS)

    def mutated(self, mutant: Mutant) -> Trial:
        """Run a mutant's tests on the tree with its mistake."""
        path = self._folder / mutant.path
        text = path.read_text()
        path.write_text(mutant.applied(text))
        try:
            return self._run(Checks(mutant.caught), TRIAL_SECONDS)
        finally:
            path.write_text(text)

    def _run(self, checks: Checks, seconds: float) -> Trial:
        plain = ("-p", "no:cacheprovider", "--assert=plain")
        command = [sys.executable, "-m", "pytest", *plain, *checks.arguments]
        began = time.monotonic()
        try:
            done = subprocess.run(
                command,
                cwd=self._folder,
                env=self._environment(),
                capture_output=True,
                text=True,
                check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return Trial(Outcome.RED, time.monotonic() - began, "it did not end")
        outcome = {0: Outcome.GREEN, 1: Outcome.RED}.get(done.returncode, Outcome.BROKEN)
        return Trial(outcome, time.monotonic() - began, done.stdout + done.stderr)

    def _environment(self) -> dict[str, str]:
        """That of this process, with the copy in front of what is installed; nothing is kept."""
        paths = os.pathsep.join(str(self._folder / part) for part in ("src", "scripts", "tests"))
        return {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
