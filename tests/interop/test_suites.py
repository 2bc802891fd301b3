"""controller-runtime's own tests, unmodified, on our etcd and kube-apiserver.

The module comes from Go's proxy as it was published. Every package that starts a server is built
and run once, and has to pass as many tests as the table of docs/envtest.md says.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

import patience
from foreign.cache import cache_folder
from foreign.catalogue import CONTROLLER_RUNTIME
from foreign.errors import ProgramError
from interop.conftest import Aloud
from quintant.cli.envtest.assets import write_assets

PAGE = Path(__file__).parents[2] / "docs/envtest.md"
_ROW = re.compile(r"^\| `pkg/([\w/]+)` \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)
RUN_SECONDS = 180.0
"""On a quiet machine, the longest of them."""
BUILD = {"CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": "-mod=readonly -buildvcs=false"}
ALONE = (
    "unshare",
    "--net",
    "--pid",
    "--fork",
    "--kill-child",
    "sh",
    "-c",
    'ip link set lo up; exec "$0" "$@"',
)
"""In a network of its own: the tests of some packages listen on the port 8080. What they start and
leave behind ends with them."""
_TEST = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Suite:
    """A row of the table: how many tests there are, and how many pass on which pair."""

    package: str
    tests: int
    real: int
    ours: int


def suites() -> Iterator[Suite]:
    """The rows of the table."""
    for package, *counts in _ROW.findall(PAGE.read_text()):
        yield Suite(package, *map(int, counts))


class _Spec(msgspec.Struct, frozen=True, rename="pascal"):
    state: str
    leaf_node_type: str
    leaf_node_text: str = ""


class _Report(msgspec.Struct, frozen=True, rename="pascal"):
    spec_reports: list[_Spec] | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What ran, and what of it failed."""

    passed: int
    failed: list[str]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module as it was published, where tests may write beside it."""
    try:
        published = CONTROLLER_RUNTIME.source(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))
    copy = tmp_path_factory.mktemp("controller-runtime") / "source"
    shutil.copytree(published, copy)
    for path in (copy, *copy.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    return copy


def built(source: Path, package: str) -> Path:
    """The tests of a package as a program, in the cache."""
    version = f"controller-runtime-{CONTROLLER_RUNTIME.version}"
    made = cache_folder(os.environ) / "programs" / version / f"{package.replace('/', '_')}.test"
    if made.exists():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    draft = made.with_name(f"{made.name}.{os.getpid()}")
    print(f"\nbuilding the tests of pkg/{package} (the first of them takes minutes, once)")
    done = subprocess.run(
        ["go", "test", "-c", "-ldflags", "-s -w", "-o", draft, f"./pkg/{package}"],
        cwd=source,
        env={**os.environ, **BUILD},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"the tests of pkg/{package} cannot be built: {done.stderr[-2000:]}")
    draft.replace(made)
    return made


def run(program: Path, folder: Path, assets: Path, report: Path) -> Outcome:
    """Run the tests of a package in its folder."""
    ran = subprocess.run(
        [*(ALONE if os.geteuid() == 0 else ()), program, *flags(report)],
        cwd=folder,
        env={**os.environ, "KUBEBUILDER_ASSETS": str(assets), "TMPDIR": str(report.parent)},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=patience.seconds(RUN_SECONDS),
        check=False,
    )
    found = outcome(report, ran.stdout)
    print(ran.stdout[-20_000:] if ran.returncode else "")
    assert bool(ran.returncode) == bool(found.failed), "every test of a package is counted"
    return found


def flags(report: Path) -> tuple[str, ...]:
    return "-test.v", "-ginkgo.no-color", f"-ginkgo.json-report={report}"


def outcome(report: Path, printed: str) -> Outcome:
    """What ginkgo reports, or, of a package without any of its specs, what Go prints."""
    reports = msgspec.json.decode(report.read_bytes(), type=list[_Report])
    every = [each for suite in reports for each in suite.spec_reports or ()]
    specs = [each for each in every if each.leaf_node_type == "It"]
    if specs:
        failed = [each.leaf_node_text for each in specs if each.state not in _FINE]
        return Outcome(sum(each.state == "passed" for each in specs), failed)
    results = dict(_by_name(printed))
    parents = {name.rpartition("/")[0] for name in results}
    ended = {name: word for name, word in results.items() if name not in parents}
    failed = [name for name, word in ended.items() if word == "FAIL"]
    return Outcome(sum(word == "PASS" for word in ended.values()), failed)


def _by_name(printed: str) -> Iterator[tuple[str, str]]:
    for word, name in _TEST.findall(printed):
        yield name, word


_FINE = ("passed", "pending", "skipped")


@pytest.mark.parametrize("suite", [*suites()], ids=lambda suite: suite.package)
def test_the_tests_of_controller_runtime_pass(
    suite: Suite, source: Path, tmp_path: Path, aloud: Aloud
) -> None:
    with aloud():
        program = built(source, suite.package)
    assets = write_assets(tmp_path / "assets", os.environ)
    found = run(program, source / "pkg" / suite.package, assets, tmp_path / "report.json")
    with aloud():
        print(f"pkg/{suite.package}: {found.passed} of {suite.tests}, {len(found.failed)} failed")
    assert found.passed == suite.ours, found.failed
    assert len(found.failed) == suite.tests - suite.ours


def test_the_table_names_every_package_that_starts_a_server(source: Path) -> None:
    """Those that do so in one test among others are in it by that."""
    starting = {
        str(path.parent.relative_to(source / "pkg"))
        for path in (source / "pkg").rglob("*_test.go")
        if "envtest.Environment{" in path.read_text()
    }
    assert {suite.package for suite in suites()} >= {*starting, "envtest"}
