"""Run pytest, and what failed once more by itself: a test that then passes is named as flaky.

    python scripts/rerun_failed.py NAME ARGUMENT…

Parts of the tests run side by side, beside whatever else the machine does. A test that fails there
and passes alone is a defect of that test, to be mended and not to be waved through: it is printed
with FLAKY at the start of the line. It does not fail the run, unless there are more than a few. The
failures of a run are kept under its NAME in pytest's cache, so that runs at once do not mix theirs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".pytest_cache"
LAST_FAILED = Path("v/cache/lastfailed")
"""Where pytest keeps the ids of the tests that failed, inside its cache."""

TESTS_FAILED = 1
"""What pytest ends with when tests failed; it has other codes when it did not get to run them."""
MOST_FLAKY = 3
"""More tests that fail at once have a common cause, and that is no bad luck."""


@dataclass(frozen=True, slots=True)
class PytestRun:
    """A run of pytest: how it ended, and what it printed (nothing, if that was not captured)."""

    code: int
    output: str


Run = Callable[[Sequence[str]], PytestRun]


def run_and_rerun(
    name: str, arguments: Sequence[str], run: Run, again: Sequence[str] = ()
) -> PytestRun:
    """Run tests, and those that failed again (with some more arguments), if they are few."""
    cache = CACHE / name
    arguments = [*arguments, "-o", f"cache_dir={cache}"]
    (cache / LAST_FAILED).unlink(missing_ok=True)
    first = run(arguments)
    failed = failed_tests(cache) if first.code == TESTS_FAILED else []
    if not 0 < len(failed) <= MOST_FLAKY:
        return first
    second = run([*arguments, *again, "--last-failed", "--last-failed-no-failures=none"])
    words = "FLAKY, passed when it was run again" if second.code == 0 else "run again, for nothing"
    lines = [f"{words}: {test}" for test in failed]
    return PytestRun(second.code, "\n".join([first.output, second.output, *lines, ""]))


def failed_tests(cache: Path) -> list[str]:
    """The ids of the tests that failed in the last run that used this cache."""
    try:
        return sorted(json.loads((cache / LAST_FAILED).read_text()))
    except FileNotFoundError:
        return []


def captured(env: Mapping[str, str]) -> Run:
    """Run pytest and keep what it prints, for a part that is shown when it has ended."""

    def run(arguments: Sequence[str]) -> PytestRun:
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *arguments],
            cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        return PytestRun(ran.returncode, ran.stdout)

    return run


def shown(arguments: Sequence[str]) -> PytestRun:
    """Run pytest, which prints while it runs."""
    return PytestRun(
        subprocess.run([sys.executable, "-m", "pytest", "-q", *arguments]).returncode, ""
    )


def main() -> int:
    """Run the tests of the command line."""
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    ended = run_and_rerun(sys.argv[1], sys.argv[2:], shown)
    print(ended.output.strip(), flush=True)
    return ended.code


if __name__ == "__main__":
    sys.exit(main())
