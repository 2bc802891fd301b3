"""No path that a pod names leads an agent out of the pod on the embedded node.

Options and variables are found by a walk over the agents' code: a new one is held to it at once.
"""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import pytest
from click.testing import CliRunner, Result

import patience
import quintant.agents
from quintant.cli import main

FOLDER = Path(quintant.agents.__file__).parent
ADDERS = {"add_argument", "add", "_add"}
ALWAYS = {"Path", "pod_path"}
PATH_NAME = re.compile(r"HOME|[A-Z]+(_[A-Z]+)*_(DIR|FILE|HOME|FOLDER|PATH|ACCOUNT)")
SECONDS = 10
WORDS = {
    "apiclient": ("cosmosnode", "versioncheck"),
    "cosmosnode": ("cosmosnode", "fetch", "genesis"),
    "lightpeer": ("lightpeer", "-host=127.0.0.1", "-port=1"),
    "tunnel": (
        "tunnel", "expose", "--name=a", "--host=127.0.0.1", "--port=1", "--admin-addr=127.0.0.1:0",
        "--relay=wss://127.0.0.1:1/relay",
    ),
}  # fmt: skip
"""A command line that reads the variables of a package."""


class Option(NamedTuple):
    """An option of an agent that is a path."""

    package: str
    words: tuple[str, ...]
    flag: str

    def __str__(self) -> str:
        return " ".join((self.package, *self.words, self.flag))


def packages() -> Iterator[tuple[str, str, ast.Module]]:
    """Every module of every agent: its package, its name, its tree."""
    for file in sorted(FOLDER.rglob("*.py")):
        parts = file.relative_to(FOLDER).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        yield parts[0], name, ast.parse(file.read_text())


def is_path(module: str, name: str) -> bool:
    """Whether what stands behind `type=` gives a path, or something with one."""
    if name in ALWAYS:
        return True
    found: Any = getattr(import_module(f"quintant.agents.{module}"), name, None)
    return callable(found) and found.__class__ is not type and (
        "Path" in str(get_type_hints(found).get("return"))
    )  # fmt: skip


def options() -> Iterator[Option]:
    for package, module, tree in packages():
        commands = {"": ""}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                call, target = node.value, node.targets[0]
                if getattr(call.func, "attr", "") == "add_parser" and isinstance(target, ast.Name):
                    commands[target.id] = ast.literal_eval(call.args[0])
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and callee(node) in ADDERS:
                types = [each.value for each in node.keywords if each.arg == "type"]
                names = [each.value for each in node.args if isinstance(each, ast.Constant)]
                if any(isinstance(each, ast.Name) and is_path(module, each.id) for each in types):
                    owner = getattr(getattr(node.func, "value", None), "id", "")
                    word = commands.get(owner, "")
                    dashed = callee(node) == "_add" or str(names[0]).startswith("-")
                    flag = f"--{str(names[0]).lstrip('-')}=" if dashed else ""
                    yield Option(package, (word,) if word else (), flag)


def callee(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def variables() -> Iterator[tuple[str, str]]:
    """Names of variables that hold paths, and the package that reads them."""
    for package, _, tree in packages():
        if "environ" in {getattr(node, "id", getattr(node, "attr", "")) for node in names_in(tree)}:
            for node in ast.walk(tree):
                text = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and PATH_NAME.fullmatch(text):
                    yield package, text


def names_in(tree: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield node


OPTIONS = sorted(set(options()))
VARIABLES = sorted(set(variables()))


class Pod(NamedTuple):
    """Folders of a pod, and one beside that is not its own."""

    root: Path
    outside: Path

    @property
    def environ(self) -> dict[str, str]:
        inside = {name: str(self.root / name.lower()) for _, name in VARIABLES}
        return {
            **inside, "PATH": os.environ["PATH"], "TMPDIR": str(self.root), "HOME": str(self.root),
            "QUINTANT_ROOT": str(self.root), "QUINTANT_VOLUMES": "[]",
            "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1",
            "EDGEDEVICE_NAME": "a", "QUINTANT_POD_IP": "127.0.0.1",
        }  # fmt: skip

    @property
    def leading_out(self) -> Path:
        """A path that looks like the pod's own, and is not: links count."""
        link = self.root / "link"
        if not link.is_symlink():
            link.symlink_to(self.outside)
        return link / "own"

    def run(self, *words: str, **more: str) -> Result:
        """Run an agent in this process: that it is refused takes no time."""
        with chdir(self.root), within(patience.seconds(SECONDS)):
            return CliRunner().invoke(main, ["agent", *words], env={**self.environ, **more})


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """An agent that was not refused serves; then this ends it."""

    def end(number: int, frame: object) -> None:
        raise AssertionError("it was not refused")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    made = Pod(tmp_path / "root", tmp_path / "outside")
    for folder in (made.root, made.outside / "own"):
        folder.mkdir(parents=True)
    (made.outside / "own" / "precious").write_text("mine")
    return made


def refused(ended: Result, pod: Pod) -> None:
    """It ended with three lines, and all that is outside is as it was."""
    lines = ended.stderr.strip().splitlines()
    assert ended.exit_code == 1
    assert [line.split(" ")[0] for line in lines] == ["cannot", "because:", "try:"], ended.stderr
    assert "outside of the pod" in lines[1]
    left = {str(each.relative_to(pod.outside)) for each in pod.outside.rglob("*")}
    assert left == {"own", "own/precious"}


def test_the_walk_finds_the_options_and_variables_that_we_know_of() -> None:
    shown = {str(each) for each in OPTIONS}
    known = {
        "cosmosnode clean ", "chainsim start --home=", "relay --tokens=", "echo --write=",
        "lightpeer --repo=", "klightpeer --statePath=", "deviceshifu --config=",
    }  # fmt: skip
    assert known <= shown
    assert {("cosmosnode", "DATA_DIR"), ("tunnel", "PORTAL_CA_DIR")} <= set(VARIABLES)


@pytest.mark.parametrize("option", OPTIONS, ids=str)
def test_an_option_that_leads_out_of_the_pod_is_refused(pod: Pod, option: Option) -> None:
    refused(pod.run(option.package, *option.words, f"{option.flag}{pod.leading_out}"), pod)


@pytest.mark.parametrize(("package", "name"), VARIABLES)
def test_a_variable_that_leads_out_of_the_pod_is_refused(pod: Pod, package: str, name: str) -> None:
    refused(pod.run(*WORDS[package], **{name: str(pod.leading_out)}), pod)


def test_the_program_as_pods_run_it_ends_with_the_same_lines(pod: Pod) -> None:
    line = (sys.executable, "-I", "-m", "quintant", "agent", "relay", f"--state={pod.leading_out}")
    ended = subprocess.run(line, env=pod.environ, cwd=pod.root, capture_output=True, text=True)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (1, 3), ended.stderr


def test_a_volume_of_the_pod_is_not_outside(pod: Pod) -> None:
    volumes = json.dumps([str(pod.outside)])
    ended = pod.run("cosmosnode", "clean", str(pod.leading_out), QUINTANT_VOLUMES=volumes)
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert not (pod.outside / "own" / "precious").exists()


def made_paths(tree: ast.Module) -> Iterator[int]:
    """Lines where a path is made of something that the code does not say."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Path", "open"):
            yield from (node.lineno for each in node.args[:1] if not is_literal(each))


def is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def test_no_agent_makes_a_path_of_an_argument_or_variable_by_itself() -> None:
    """Modules that read arguments or variables have paths from `pod_path`, and nothing else."""
    offending = [
        f"{module}:{line}"
        for _, module, tree in packages()
        if module not in ("embedded_node", "volumes", "apiclient.pod_account")
        and {"environ", "argparse", "Namespace", "given"}
        & {getattr(each, "id", getattr(each, "attr", "")) for each in names_in(tree)}
        for line in made_paths(tree)
    ]
    assert offending == []
