"""Whose tests run on our etcd and kube-apiserver, and what docs/envtest.md says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from foreign.catalogue import CONTROLLER_RUNTIME
from foreign.go_program import GoProgram
from foreign.go_tests import GoTests
from foreign.source_change import SourceChange

PAGE = Path(__file__).parents[2] / "docs/envtest.md"
PAIR = ("etcd", "kube-apiserver", "kubectl")
_ROW = re.compile(r"^\| `([\w/.-]+)` \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)
APIEXTENSIONS = GoProgram("apiextensions", "k8s.io/apiextensions-apiserver", "v0.36.3")
_FIXTURES = "test/integration/fixtures"
_STARTED = SourceChange(f"{_FIXTURES}/server.go", "servertesting.StartTestServer(", "startPair(")
_PAIR_GO = Path(__file__).parent / "programs/apiextensions/pair.go"
_APIEXTENSIONS_TESTS = GoTests(
    APIEXTENSIONS,
    changes=(_STARTED,),
    added=((f"{_FIXTURES}/{_PAIR_GO.name}", _PAIR_GO.read_text()),),
)
"""Its tests start the pair, and not a server of their own inside themselves."""
_LOOKING_INTO_ETCD = (
    "TestCBORStorageEnablement",
    "TestCustomResourceDefaultingOfMetaFields",
    "TestEtcdStorage",
    "TestInvalidObjectMetaInStorage",
    "TestNonStructuralSchemaConditionForCRDV1Beta1MigratedData",
    "TestNonStructuralSchemaConditionUpdate",
    "TestPruningFromStorage",
)
"""What they look at is in etcd's own protocol."""


@dataclass(frozen=True, slots=True)
class Project:
    """Who wrote tests, and how these find the pair of programs that they start."""

    title: str
    """Of its section of the page."""
    tests: GoTests
    left_out: tuple[str, ...] = ()
    """Tests that can be of no pair but the one that they start themselves."""


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


PROJECTS = (
    Project("controller-runtime", GoTests(CONTROLLER_RUNTIME)),
    Project("apiextensions-apiserver", _APIEXTENSIONS_TESTS, left_out=_LOOKING_INTO_ETCD),
)


def suites() -> Iterator[Suite]:
    """The rows of the page."""
    sections = PAGE.read_text().split("\n### ")
    for project in PROJECTS:
        title = f"{project.title} {project.tests.module.version}\n"
        (text,) = (each for each in sections if each.startswith(title))
        for package, *counts in _ROW.findall(text):
            yield Suite(project, package, *map(int, counts))
