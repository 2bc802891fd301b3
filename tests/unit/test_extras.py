"""Whoever lacks an extra is told its name, and the package declares what its modules import."""

from __future__ import annotations

import ast
import asyncio
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import msgspec
import pytest

import patience
from quintant import Config
from quintant.agents import AGENTS
from quintant.api.core import ConfigMap
from quintant.cli import COMMANDS
from quintant.cli.client import open_client
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.core.errors import NotFound
from quintant.die_with_parent import die_with_parent
from quintant.extras import EXTRAS, NEEDED_BY, USED_BY, missing, require
from quintant.operators import OPERATORS

ROOT = Path(__file__).parents[2]
DEVELOPMENT = ("console-tests", "dev")
GREETER = ROOT / "examples" / "01_greeter.py"
JSON = {"content-type": "application/json"}
# `quintant.testing` is imported by tests, whose author has these.
TESTERS = {"pytest", "pytest-asyncio"}
# Modules that several distributions share, and those of them that we import.
SHARED_BY = {
    "opentelemetry": ("opentelemetry-exporter-otlp-proto-http", "opentelemetry-sdk"),
}
BARE = """
import os, sys
sys.modules.update(dict.fromkeys(os.environ["ABSENT"].split()))
from quintant.cli import main
main(sys.argv[1:], prog_name="quintant")
"""


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def bare(*words: str, absent: str = "grpc", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command where some modules cannot be imported."""
    command = [sys.executable, "-c", BARE, *words]
    environ = {**os.environ, "ABSENT": absent, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environ)


def distribution(requirement: str) -> str:
    """The name of a requirement, as packages are compared by."""
    name = requirement
    for end in "[<>=!~; ":
        name = name.partition(end)[0]
    return name.lower().replace("_", "-")


def imports() -> Iterator[str]:
    """The packages that modules of ours import, wherever in them."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["klight"], "klight"),
        (["klight", "get", "networks"], "klight"),
        (["operator", "klight"], "klight"),
        (["agent", "lightpeer"], "lightpeer"),
        (["demo", "klight", "--exit"], "klight"),
    ],
)
def test_a_command_without_its_extra_says_in_three_lines_how_to_get_it(
    words: list[str], name: str
) -> None:
    done = bare(*words)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        f"cannot run {name}",
        "because: it needs the module grpc, which is not installed",
        f"try: pip install -e '{ROOT}[klight]'",
    ]


@pytest.mark.parametrize("name", ["up", "demo", "explore"])
def test_the_embedded_cluster_without_its_extra_says_in_three_lines_how_to_get_it(
    name: str,
) -> None:
    done = bare(name, absent=" ".join(EXTRAS["cluster"]))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"cannot run {name}",
        "because: it needs the module cel_expr_python, which is not installed",
        f"try: pip install -e '{ROOT}[cluster]'",
    ]


EVERY_COMMAND_HELPS = """
import os, sys
sys.modules.update(dict.fromkeys(os.environ["ABSENT"].split()))
import click
from click.testing import CliRunner
from quintant.cli import COMMANDS, main

def paths(command, *before):
    yield before
    for name, each in getattr(command, "commands", {}).items():
        yield from paths(each, *before, name)

def every():
    yield ()
    context = click.Context(main)
    for name in COMMANDS:
        yield from paths(main.get_command(context, name), name)

for words in every():
    for option in ("-h", "--help"):
        done = CliRunner().invoke(main, [*words, option])
        assert done.exit_code == 0, (words, done.output, done.exception)
        assert done.output.startswith("Usage:"), (words, done.output)
        print(*words)
"""


def test_every_help_is_shown_without_any_extra() -> None:
    absent = " ".join(module for modules in EXTRAS.values() for module in modules)
    done = subprocess.run(
        [sys.executable, "-c", EVERY_COMMAND_HELPS],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ABSENT": absent},
    )
    assert done.stderr == ""
    assert set(COMMANDS) | {"klight get", "envtest assets"} <= set(done.stdout.splitlines())


@pytest.mark.parametrize("name", sorted(NEEDED_BY.keys() & COMMANDS.keys()))
def test_help_names_the_extra_that_is_missing_and_no_other(name: str) -> None:
    extra = NEEDED_BY[name]
    shown = " ".join(bare(name, "--help", absent=" ".join(EXTRAS[extra])).stdout.split())
    assert f"It needs the extra {extra}: pip install" in shown
    assert "It needs the extra" not in bare(name, "--help", absent="").stdout


def test_what_needs_no_extra_works_without() -> None:
    assert bare("operator", "portal", "--help").returncode == 0
    assert bare("agent", "echo", "--help").returncode == 0


@pytest.mark.realtime
async def test_an_operator_runs_where_nothing_of_the_embedded_cluster_can_be_imported(
    tmp_path: Path,
) -> None:
    absent = " ".join((*EXTRAS["cluster"], "quintant.cluster", "quintant.testing"))
    async with run_cluster(ClusterConfig(BindAddress.parse("127.0.0.1:0"))) as cluster:
        way = tmp_path / "kubeconfig"
        save_kubeconfig(cluster, way)
        words = ("run", str(GREETER), "--install-crds", "--kubeconfig", str(way))
        quiet = ("--metrics", "", "--probes", "")
        operator = await asyncio.create_subprocess_exec(
            *die_with_parent([sys.executable, "-c", BARE, *words, *quiet]),
            env={**os.environ, "ABSENT": absent},
        )
        try:
            async with patience.within(30):
                await _greeted(Config.load(way))
        finally:
            operator.terminate()
            await operator.wait()


async def _greeted(config: Config) -> None:
    """Make a Greeter as soon as its kind is there, and wait until it has its ConfigMap."""
    async with open_client(config, "test") as client:
        crd = {"apiVersion": "demo.dev/v1", "kind": "Greeter", "metadata": {"name": "a"}}
        made = msgspec.json.encode({**crd, "spec": {"message": "hi"}})
        path, headers = "/apis/demo.dev/v1/namespaces/default/greeters", JSON
        while True:
            try:
                await client.raw("POST", path, body=made, headers=headers)
                break
            except NotFound:
                await asyncio.sleep(0.05)
        found = None
        while found is None:
            await asyncio.sleep(0.05)
            found = await client.find(ConfigMap, "a", "default", live=True)


def test_completion_leaves_out_what_is_not_installed() -> None:
    words = {"COMP_WORDS": "quintant ", "COMP_CWORD": "1", "_QUINTANT_COMPLETE": "bash_complete"}
    offered = {line.partition(",")[2] for line in bare(**words).stdout.splitlines()}
    assert offered == set(COMMANDS) - {"klight"}


def test_what_is_installed_is_not_complained_about() -> None:
    assert not any(missing(name) for name in NEEDED_BY)
    require(*NEEDED_BY, "portal", "greeter")


def test_only_what_exists_needs_an_extra() -> None:
    assert {*NEEDED_BY, *USED_BY} <= {*AGENTS, *OPERATORS, *COMMANDS}
    assert {*NEEDED_BY.values(), *USED_BY.values()} == set(EXTRAS)


def test_the_extra_all_has_every_other_but_that_of_development() -> None:
    extras = project()["optional-dependencies"]
    assert set(extras) == {*EXTRAS, "all", *DEVELOPMENT}
    assert extras["all"] == [f"quintant[{','.join(sorted(EXTRAS))}]"]


def test_everything_imported_is_declared_and_everything_declared_is_imported() -> None:
    owners = packages_distributions()
    foreign = set(imports()) - set(sys.stdlib_module_names) - {"quintant", *SHARED_BY}
    used = {distribution(owner) for module in foreign for owner in owners[module]} - TESTERS
    used |= {
        name for module, names in SHARED_BY.items() if module in set(imports()) for name in names
    }
    extras = project()["optional-dependencies"]
    declared = [*project()["dependencies"], *(each for name in EXTRAS for each in extras[name])]
    assert used == {distribution(each) for each in declared}
