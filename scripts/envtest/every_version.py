"""`make test-versions`: the tests of tests/real on one Kubernetes after the other.

A version that cannot be had is named and fails the run, and the others are tested all the same. A
cluster or folder of the user's own (`KUBECONFIG`, `KUBEBUILDER_ASSETS`) is not looked at here: its
version would be another one.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envtest.versions import VARIABLE, release
from foreign.errors import ProgramError, explain

ROOT = Path(__file__).parents[2]
TESTS = "tests/real"

_GIVEN = ("KUBEBUILDER_ASSETS", "QUINTANT_DISPOSABLE")
_NOTHING_RAN = 5
"""What pytest ends with when no test was selected."""

Environ = Mapping[str, str]


@dataclass(frozen=True)
class VersionResult:
    """How the tests ended on one version."""

    version: str
    outcome: str
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Whether there were tests, and all of them passed."""
        return self.outcome == "passed"

    def __str__(self) -> str:
        took = f" after {self.seconds:.0f} s" if self.seconds else ""
        return f"Kubernetes {self.version} ({release(self.version)}): {self.outcome}{took}"


def run_versions(
    versions: Iterable[str],
    environ: Environ,
    *,
    build: Callable[[Environ], object],
    run: Callable[[str, Environ], int],
) -> tuple[VersionResult, ...]:
    """Build each version and run the tests on it."""
    return tuple(_result(each, environment(environ, each), build, run) for each in versions)


def environment(environ: Environ, version: str) -> dict[str, str]:
    """Return the environment of tests on a version: ours is built, and none of the user's used."""
    kept = {name: value for name, value in environ.items() if name not in _GIVEN}
    return {**kept, VARIABLE: release(version)}


def with_pytest(arguments: Sequence[str]) -> Callable[[str, Environ], int]:
    """Return what runs the tests on a version and returns pytest's exit code."""

    def run(version: str, environ: Environ) -> int:
        line = (sys.executable, "scripts/rerun_failed.py", f"real-{version}", *arguments, TESTS)
        return subprocess.run(line, cwd=ROOT, env=dict(environ), check=False).returncode

    return run


def _result(
    version: str,
    environ: Environ,
    build: Callable[[Environ], object],
    run: Callable[[str, Environ], int],
) -> VersionResult:
    print(f"── Kubernetes {version} ({release(version)})", flush=True)
    try:
        build(environ)
    except ProgramError as error:
        explain(error)
        return VersionResult(version, "could not be built, and was not tested")
    started = time.monotonic()
    code = run(version, environ)
    return VersionResult(version, _outcome(code), time.monotonic() - started)


def _outcome(code: int) -> str:
    if code == _NOTHING_RAN:
        return f"no test in {TESTS} is selected, nothing was run"
    return "passed" if code == 0 else "failed"
