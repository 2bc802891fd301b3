"""kopf's own end-to-end tests, unmodified, beside kopf itself or with Quintant in its place."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import patience
from conformance.kubectl import programs

PROGRAMS = Path(__file__).parents[1] / "interop/programs"
SOURCES = Path(__file__).parents[2] / "src"
THEIRS, OURS = "kopf_for_openssl_3", "kopf_on_quintant"
TEST_SECONDS = 300
"""Of one of their tests, which have two seconds for each unless they are told otherwise."""
ALL_SECONDS = 1500.0


@dataclass(frozen=True)
class Outcomes:
    """What became of each test, by its name, and what was printed."""

    passed: set[str]
    others: dict[str, str]
    printed: str


async def end_to_end(plugin: str, python: Path, sources: Path, kubeconfig: Path) -> Outcomes:
    """Run them all in a copy of kopf's sources, with a plug-in of ours."""
    folder = kubeconfig.with_name(f"{plugin}-sources")
    shutil.copytree(sources, folder)
    report = kubeconfig.with_name(f"{plugin}.xml")
    line = (
        "-m", "pytest", "-p", plugin, "--only-e2e", f"--timeout={TEST_SECONDS}", "-q",
        # What a connection of theirs leaves to the garbage collector fails whichever test is next.
        "-W", "ignore::pytest.PytestUnraisableExceptionWarning",
        f"--junitxml={report}", "tests/e2e", "examples",
    )  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        python, *line, cwd=folder, env=_environ(plugin, python, kubeconfig),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        async with patience.within(ALL_SECONDS):
            printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _outcomes(report, printed.decode())


def _environ(plugin: str, python: Path, kubeconfig: Path) -> Mapping[str, str]:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    theirs = python.parents[1] / "lib" / version / "site-packages"
    ours = Path(sys.prefix) / "lib" / version / "site-packages"
    paths = (PROGRAMS, SOURCES, theirs, ours) if plugin == OURS else (PROGRAMS,)
    return {
        "PATH": f"{programs()[0].parent}:{os.environ['PATH']}",
        "HOME": str(kubeconfig.parent),
        "KUBECONFIG": str(kubeconfig),
        "PYTHONPATH": ":".join(map(str, paths)),
    }


def _outcomes(report: Path, printed: str) -> Outcomes:
    assert report.exists(), printed
    passed, others = set[str](), dict[str, str]()
    for case in ET.parse(report).iter("testcase"):
        name = str(case.get("name"))
        found = [each for each in case if each.tag in ("failure", "error", "skipped")]
        if found:
            others[name] = str(found[0].get("message"))
        else:
            passed.add(name)
    return Outcomes(passed, others, printed)
