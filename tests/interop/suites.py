"""Whose tests run on our etcd and kube-apiserver, and what docs/envtest.md says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from foreign.catalogue import CONTROLLER_RUNTIME
from foreign.go_tests import GoTests

PAGE = Path(__file__).parents[2] / "docs/envtest.md"
PAIR = ("etcd", "kube-apiserver", "kubectl")
_ROW = re.compile(r"^\| `([\w/.-]+)` \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Project:
    """Who wrote tests, and how these find the pair of programs that they start."""

    title: str
    """Of its section of the page."""
    tests: GoTests
    by_program: bool = False
    """A variable for each program, in place of one for their folder."""
    left_out: tuple[str, ...] = ()
    """Tests that can be of no pair but the one that they start themselves."""

    def variables(self, assets: Path) -> Mapping[str, str]:
        """Those by which its tests find the pair of a folder."""
        if not self.by_program:
            return {"KUBEBUILDER_ASSETS": str(assets)}
        return {_variable(name): str(assets / name) for name in PAIR}


def _variable(program: str) -> str:
    return f"TEST_ASSET_{program.upper().replace('-', '_')}"


@dataclass(frozen=True, slots=True)
class Suite:
    """A row of a table: how many tests a package has, and how many pass on which pair."""

    project: Project
    package: str
    tests: int
    real: int
    ours: int

    def __str__(self) -> str:
        return f"{self.project.tests.module.name}/{self.package}"


PROJECTS = (Project("controller-runtime", GoTests(CONTROLLER_RUNTIME)),)


def suites() -> Iterator[Suite]:
    """The rows of the page."""
    sections = PAGE.read_text().split("\n### ")
    for project in PROJECTS:
        title = f"{project.title} {project.tests.module.version}\n"
        (text,) = (each for each in sections if each.startswith(title))
        for package, *counts in _ROW.findall(text):
            yield Suite(project, package, *map(int, counts))
