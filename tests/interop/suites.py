"""Whose tests run on our etcd and kube-apiserver, and what docs/envtest.md says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from foreign.catalogue import CERT_MANAGER_CONTROLLER, CONTROLLER_RUNTIME
from foreign.go_program import GoProgram
from foreign.go_tests import GoTests
from foreign.source_change import SourceChange
from interop import cert_manager

PAGE = Path(__file__).parents[2] / "docs/envtest.md"
PAIR = ("etcd", "kube-apiserver", "kubectl")
_ROW = re.compile(r"^\| `([\w/.-]+)` \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)
_CAPI = "sigs.k8s.io/cluster-api"
CLUSTER_API = GoProgram("cluster-api", _CAPI, "v1.14.2")
CLUSTER_API_TYPES = GoProgram("cluster-api-types", f"{_CAPI}/api", CLUSTER_API.version)

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


def generate_definitions(source: Path) -> None:
    """What cert-manager's makefile makes before its tests run."""
    folder = source / "_bin/yaml/templated-crds"
    folder.mkdir(parents=True)
    for name, text in cert_manager.definitions(source):
        (folder / f"{name}.templated.yaml").write_text(text)


@dataclass(frozen=True, slots=True)
class Project:
    """Who wrote tests, and how these find the pair of programs that they start."""

    title: str
    """Of its section of the page."""
    tests: GoTests
    by_program: bool = False
    """A variable for each program, in place of one for their folder."""

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


PROJECTS = (
    Project("controller-runtime", GoTests(CONTROLLER_RUNTIME)),
    Project("Cluster API", GoTests(CLUSTER_API, (("api", CLUSTER_API_TYPES),))),
    Project(
        "cert-manager",
        GoTests(CERT_MANAGER_CONTROLLER, generate=generate_definitions),
        by_program=True,
    ),
    Project("apiextensions-apiserver", _APIEXTENSIONS_TESTS),
)


def suites() -> Iterator[Suite]:
    """The rows of the page."""
    sections = PAGE.read_text().split("\n### ")
    for project in PROJECTS:
        title = f"{project.title} {project.tests.module.version}\n"
        (text,) = (each for each in sections if each.startswith(title))
        for package, *counts in _ROW.findall(text):
            yield Suite(project, package, *map(int, counts))
