"""Tests of other projects, as they were published, on our etcd and kube-apiserver.

Their modules come from Go's proxy. Every package that is in a table of docs/envtest.md is built
and run once on each pair, and has to pass as many tests as the table says.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import patience
from envtest.build import provide
from foreign import ProgramError
from interop.conftest import Aloud
from interop.go_test_outcome import Outcome, flags, outcome
from interop.suites import PAIR, PROJECTS, Suite, suites
from quintant.cli.envtest.assets import write_assets

RUN_SECONDS = 1_200.0
"""On a quiet machine, more than the longest of them."""
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
GINKGO = b"ginkgo.json-report"
"""The name of a flag, in a program that has it."""


def run(suite: Suite, assets: Path, temporary: Path) -> Outcome:
    """Run the tests of a package in its folder."""
    tests, report = suite.project.tests, temporary / "report.json"
    program = tests.provide(suite.package, os.environ)
    ran = subprocess.run(
        [
            *(ALONE if os.geteuid() == 0 else ()),
            program,
            *flags(
                report,
                ginkgo=GINKGO in program.read_bytes(),
                left_out=suite.project.left_out,
            ),
        ],
        cwd=tests.folder(suite.package, os.environ),
        env={**os.environ, "KUBEBUILDER_ASSETS": str(assets), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=patience.seconds(RUN_SECONDS),
        check=False,
    )
    found = outcome(report, ran.stdout)
    print(ran.stdout[-20_000:], ran.stderr[-5_000:] if ran.returncode else "")
    assert bool(ran.returncode) == bool(found.failed), "every test of a package is counted"
    return found


def real_assets() -> Path:
    """The folder of the real pair."""
    return provide(os.environ, PAIR)


def build(suite: Suite, aloud: Aloud) -> None:
    """Make the tests before they run; skipped aloud where they cannot be had."""
    try:
        with aloud():
            suite.project.tests.provide(suite.package, os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("pair", ["real", "ours"])
@pytest.mark.parametrize("suite", [*suites()], ids=str)
def test_the_tests_of_other_projects_pass(
    suite: Suite, pair: str, tmp_path: Path, aloud: Aloud
) -> None:
    build(suite, aloud)
    assets = real_assets() if pair == "real" else write_assets(tmp_path / "assets", os.environ)
    found = run(suite, assets, tmp_path)
    with aloud():
        print(f"\n{suite} on {pair}: {found.passed} of {suite.tests}, {len(found.failed)} failed")
    expected = suite.real if pair == "real" else suite.ours
    assert found.passed == expected, found.failed
    assert len(found.failed) == suite.tests - expected


def test_the_table_names_every_package_that_starts_a_server() -> None:
    """Of controller-runtime; those that do so in one test among others are in it by that."""
    runtime = PROJECTS[0]
    try:
        source = runtime.tests.source(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))
    starting = {
        str(path.parent.relative_to(source))
        for path in (source / "pkg").rglob("*_test.go")
        if "envtest.Environment{" in path.read_text()
    }
    named = {suite.package for suite in suites() if suite.project is runtime}
    assert named >= {*starting, "pkg/envtest"}
