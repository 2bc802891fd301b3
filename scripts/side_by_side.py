"""Run the tests in parts, side by side: `make test`, `make test-real`.

    python scripts/side_by_side.py [--real] [--select WORD] [--slowest N] [--coverage [--measured]]

Each part is a pytest of its own; when it begins is said, and what it printed is shown when it has
ended. The few tests that fail in it are run again (rerun_failed.py). Some of the tests wait for
processes, so there are more parts at once than cores. Ends with 1 if a part failed, or if nothing
at all was selected. With `--select` all folders are one part: every part would collect tests, and
import what they import, only to leave most of them out. With `--coverage` it is measured which
lines of the runtime its tests reach, all parts together, and too few are a failure; with
`--measured` no other part is run. With `--slowest` the tests of all parts that took longest are
listed at the end. With `--real` it is the tests that need real programs; a cluster that was given
to us is not shared by two parts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from time import monotonic

from envtest.existing import disposable
from rerun_failed import captured, run_and_rerun
from slowest_tests import duration_options, slowest_table, without_durations

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Suite:
    """Folders of tests, and the parts in which they are run, the longest first.

    What stands in one part is not in those behind it: the last has the rest.
    """

    folders: tuple[str, ...]
    parts: Mapping[str, tuple[str, ...]]


FOLDERS = (
    "tests/unit", "tests/scenarios", "tests/operators", "tests/examples", "tests/typing",
    "tests/node", "tests/security", "tests/explore",
)  # fmt: skip
"""What `make test` runs."""
REAL_FOLDERS = ("tests/real",)

PARTS: Mapping[str, tuple[str, ...]] = {
    "shifu": ("tests/operators/shifu",),
    "infra": ("tests/operators/infra",),
    "cosmos": ("tests/operators/cosmos",),
    "portal": ("tests/operators/portal",),
    "scenarios": ("tests/scenarios",),
    "klight": ("tests/operators/klight",),
    "explore": ("tests/explore",),
    "node": ("tests/node",),
    "security": ("tests/security",),
    "runtime": ("tests/unit/runtime", "tests/unit/api"),
    "cluster": ("tests/unit/cluster",),
    "agents": ("tests/unit/agents", "tests/unit/http", "tests/unit/wire"),
    "kit": ("tests/unit/testing", "tests/unit/cli"),
    "client": ("tests/unit/core", "tests/unit/client"),
    "documents": ("tests/unit/test_docs.py", "tests/examples"),
    "rest": FOLDERS,
}
REAL_PARTS: Mapping[str, tuple[str, ...]] = {
    "real-infra": tuple(
        f"tests/real/test_{name}_real.py"
        for name in (
            "infra_apiserver", "infra_page", "infra_provider", "infra", "infrastructure_manager",
            "openstack",
        )
    ),
    "real": REAL_FOLDERS,
}  # fmt: skip
"""Those with an Infrastructure Manager wait for it about as long as all others together."""

TESTS = Suite(FOLDERS, PARTS)
REAL = Suite(REAL_FOLDERS, REAL_PARTS)

SELECTED = "selected"
"""The one part of those who want a few tests."""

COVERING = ("runtime", "client")
"""Parts that measure: tests take twice as long, so only the runtime's own unit tests do."""
MEASURED = ("quintant.core", "quintant.client", "quintant.runtime")
LEAST_PERCENT = 95

WAITING = 2
"""Parts at once beyond one for each core."""
NOTHING_SELECTED = 5
"""What pytest ends with when it ran no test."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A part that ended: pytest's code, what it printed, and how long it took."""

    name: str
    code: int
    output: str
    seconds: float


def parts_to_run(suite: Suite, select: str, *, coverage: bool, measured: bool) -> tuple[str, ...]:
    """The parts for this command line, the longest first."""
    if measured:
        return COVERING
    # What is measured is measured part by part, since most parts are not.
    return (SELECTED,) if select and not coverage else tuple(suite.parts)


def arguments(suite: Suite, name: str) -> list[str]:
    """The paths of a part for pytest, without those of parts before it."""
    if name == SELECTED:
        return [*suite.folders]
    before = dict.fromkeys(
        each
        for other in takewhile(lambda other: other != name, suite.parts)
        for each in suite.parts[other]
    )
    # What is named to pytest is run, ignored or not.
    paths = [each for each in suite.parts[name] if each not in before]
    ignored = [each for each in before if _below(each, paths)]
    return [*paths, *(f"--ignore={each}" for each in ignored)]


def verdict(suite: Suite, ended: Iterable[Ended], select: str) -> str:
    """Why the whole failed; empty if it did not."""
    codes = {part.name: part.code for part in ended}
    failed = [name for name, code in codes.items() if code not in (0, NOTHING_SELECTED)]
    if failed:
        return f"failed: {', '.join(failed)}"
    if all(code == NOTHING_SELECTED for code in codes.values()):
        return f"no test in {' '.join(suite.folders)} is selected by K={select}: nothing was run"
    return ""


def run_part(suite: Suite, name: str, options: Sequence[str], coverage: Path | None) -> Ended:
    """Run one part to its end."""
    env, measure, append = dict(os.environ), [], []
    if coverage is not None and name in COVERING:
        env["COVERAGE_FILE"] = str(coverage.with_suffix(f".{name}"))
        measure = [*(f"--cov={each}" for each in MEASURED), "--cov-report="]
        append = ["--cov-append"]
    print(f"── {name} begins", flush=True)
    began = monotonic()
    ran = run_and_rerun(name, [*options, *measure, *arguments(suite, name)], captured(env), append)
    return Ended(name, ran.code, ran.output, monotonic() - began)


def run_parts(
    suite: Suite, names: Iterable[str], options: Sequence[str], coverage: Path | None
) -> Iterator[Ended]:
    """Run parts, and give each when it has ended."""
    with ThreadPoolExecutor((os.cpu_count() or 1) + WAITING) as pool:
        running = [pool.submit(run_part, suite, name, options, coverage) for name in names]
        for future in as_completed(running):
            yield future.result()


def show(part: Ended) -> None:
    """Print what a part printed; of one that selected nothing there is nothing to say."""
    if part.code != NOTHING_SELECTED:
        said = without_durations(part.output)
        print(f"── {part.name}: {part.seconds:.0f} s\n{said}", flush=True)


def report_coverage(file: Path) -> int:
    """Print which lines were reached, all parts together; not 0 if they are too few."""
    env = {**os.environ, "COVERAGE_FILE": str(file)}
    tool = [sys.executable, "-m", "coverage"]
    parts = [str(file.with_suffix(f".{name}")) for name in COVERING]
    subprocess.run([*tool, "combine", "-q", *parts], cwd=ROOT, env=env, check=True)
    report = [*tool, "report", "--skip-covered", f"--fail-under={LEAST_PERCENT}"]
    return subprocess.run(report, cwd=ROOT, env=env).returncode


def main() -> int:
    """Run the parts that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", action="store_true", help="those that need real programs")
    parser.add_argument("--select", default="", help="only tests whose names have this (pytest -k)")
    parser.add_argument("--slowest", type=int, default=0, help="list so many that took longest")
    parser.add_argument("--coverage", action="store_true", help="measure what of the runtime")
    parser.add_argument("--measured", action="store_true", help="only the parts that measure")
    given = parser.parse_args()
    coverage = ROOT / ".coverage" if given.coverage else None
    suite = REAL if given.real else TESTS
    names = parts_to_run(suite, given.select, coverage=given.coverage, measured=given.measured)
    if given.real and disposable(os.environ):
        names = (SELECTED,)
    options = [*(["-k", given.select] if given.select else []), *duration_options(given.slowest)]
    ended = []
    for part in run_parts(suite, names, options, coverage):
        show(part)
        ended.append(part)
    if given.slowest:
        print(slowest_table((part.output for part in ended), given.slowest))
    why = verdict(suite, ended, given.select)
    if why:
        print(why)
        return 1
    return report_coverage(coverage) if coverage is not None else 0


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


if __name__ == "__main__":
    sys.exit(main())
