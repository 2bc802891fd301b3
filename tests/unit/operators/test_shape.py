"""Every operator has one shape: who knows one knows all.

    __init__.py   controllers(manager, options=None, remote=None)
    api.py        kinds              options.py   settings
    observed.py   values: Observed   observe.py   reads → Observed
    plan.py       pure: Observed → what to do
    builders.py   children           act.py       does it          reconcile.py   all three
    remote.py     the world outside  metrics.py   sample.py        README.md
    panel.py      pure: kinds → rows of the console
    rules.py admission.py cleanup.py report.py alerts.py topology.py clusters.py   where needed

A module that outgrew one file becomes a folder of its name, with its parts inside. A further kind
or controller has a folder with these names again. An operator whose document names its files keeps
those names: `*_builder.py` is a builder, `*_control.py` acts.

What passes between observe and plan lies in observed, below both, so plan imports nothing of
observe; and a `reconcile.py` has one class, `<Kind>Reconciler`, and no bare function of that name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import quintant.operators

OPERATORS = Path(quintant.operators.__file__).parent
REQUIRED = {
    "__init__", "api", "options", "observed", "observe", "plan", "act", "reconcile", "metrics",
    "panel", "sample",
}  # fmt: skip
OPTIONAL = {
    "builders", "remote", "rules", "admission", "cleanup", "report", "alerts", "topology",
    "clusters",
}  # fmt: skip
NAMES = REQUIRED | OPTIONAL
PURE = ("plan", "observed", "builders", "rules", "panel")
EFFECTS = (
    "asyncio", "grpc", "http", "os", "random", "socket", "subprocess", "threading", "time",
    "quintant.client", "quintant.runtime.cache", "quintant.runtime.reconcile.context",
    "quintant.runtime.manager",
)  # fmt: skip
"""What decisions may not import; of their own operator not what acts either."""
PARSERS = {"quintant.client.config.config.Config": "a provider's answer may hold a kubeconfig"}
"""What they may all the same, because it only reads a text, and why they need it."""
ACTING = ("act", "remote", "reconcile", "cleanup")
SIGNATURE = ["manager", "options", "remote"]
RECONCILE_LINES = 60


def faults(operator: Path) -> list[str]:
    """How an operator's folder departs from the shape, a line each."""
    found = {path.stem for path in operator.iterdir() if not path.name.startswith((".", "__pyc"))}
    missing = [
        f"there is no {name}" for name in sorted(REQUIRED - found) if not _named(found, name)
    ]
    if not (operator / "README.md").is_file():
        missing.append("there is no README.md")
    return [*missing, *_signature(operator / "__init__.py"), *_folder(operator, operator)]


def _named(found: set[str], name: str) -> bool:
    """Whether the files of a document stand for a module of the shape."""
    return any(_role(each) == name for each in found)


def _role(stem: str) -> str:
    """The name in the shape that a module's own stands for."""
    for ending, role in (("_builder", "builders"), ("_control", "act")):
        if stem.endswith(ending):
            return role
    return stem


def _folder(folder: Path, operator: Path) -> Iterator[str]:
    """What is wrong in a folder of an operator, and below."""
    for path in sorted(folder.iterdir()):
        where = path.relative_to(operator)
        if path.suffix == ".py":
            if _role(path.stem) not in NAMES:
                yield f"{where} is not in the shape"
            yield from _module(path, _role(path.stem), operator)
        elif path.is_dir() and path.name in NAMES:
            for part in sorted(path.rglob("*.py")):
                yield from _module(part, path.name, operator)
        elif path.is_dir() and not path.name.startswith("__pyc"):
            if folder != operator:
                yield f"{where} is too deep"
            elif not (path / "plan.py").is_file() and not (path / "plan").is_dir():
                yield f"{where} is neither a part of the shape nor a kind with a plan"
            yield from _folder(path, operator)


def _module(path: Path, role: str, operator: Path) -> Iterator[str]:
    text, where = path.read_text(), path.relative_to(operator)
    tree = ast.parse(text)
    if role == "reconcile":
        if len(text.splitlines()) > RECONCILE_LINES:
            yield f"{where} is longer than {RECONCILE_LINES} lines"
        yield from (f"{where} {fault}" for fault in _reconciler(tree))
    if role == "plan":
        for name in sorted(set(_imports(tree))):
            if "observe" in _inside(name, operator.name):
                yield f"{where} imports {name}, which stands above plan"
    if role in PURE:
        for name in sorted(set(_imports(tree))):
            if _effect(name, operator.name):
                yield f"{where} imports {name}, which has effects"
        if any(isinstance(node, ast.AsyncFunctionDef | ast.Await) for node in ast.walk(tree)):
            yield f"{where} waits for something"


def _reconciler(tree: ast.Module) -> Iterator[str]:
    """What is wrong with the classes and functions of a reconcile.py."""
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    found = [name for name in names if name.endswith("Reconciler")]
    if len(found) != 1:
        yield f"has {', '.join(found) or 'no class'} where one <Kind>Reconciler should be"
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    if any(isinstance(node, functions) and node.name == "reconcile" for node in tree.body):
        yield "has a bare function reconcile"


def _inside(name: str, operator: str) -> list[str]:
    """The parts of an imported name below its own operator; none for what lies elsewhere."""
    inside = name.removeprefix(f"quintant.operators.{operator}.")
    return inside.split(".") if inside != name else []


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _effect(name: str, operator: str) -> bool:
    if name in PARSERS:
        return False
    if any(f"{name}.".startswith(f"{each}.") for each in EFFECTS):
        return True
    return any(part in ACTING for part in _inside(name, operator))


def _signature(path: Path) -> Iterator[str]:
    functions = {
        node.name: node
        for node in (ast.parse(path.read_text()).body if path.is_file() else ())
        if isinstance(node, ast.FunctionDef)
    }
    given = functions.get("controllers")
    names = [each.arg for each in given.args.args] if given is not None else []
    if given is None or names != SIGNATURE or len(given.args.defaults) != len(SIGNATURE) - 1:
        yield "__init__ has no controllers(manager, options=None, remote=None)"


@pytest.mark.parametrize("name", sorted(quintant.operators.OPERATORS))
def test_operator_has_the_shape(name: str) -> None:
    assert faults(OPERATORS / name) == []


def test_every_folder_is_an_operator() -> None:
    folders = {path.parent.name for path in OPERATORS.glob("*/__init__.py")}
    assert folders == set(quintant.operators.OPERATORS)


# The walk itself, over trees made for it.

MODULES = {
    "__init__.py": "def controllers(manager, options=None, remote=None): ...",
    "plan.py": "import re\nfrom quintant.operators.demo.observed import Observed",
    "reconcile.py": "class DemoReconciler: ...",
    "README.md": "",
} | {f"{name}.py": "" for name in REQUIRED - {"__init__", "plan", "reconcile"}}


def tree(root: Path, changes: dict[str, str | None]) -> Path:
    """An operator called demo that has the shape, but for some changes; None removes."""
    operator = root / "demo"
    for name, text in (MODULES | changes).items():
        if text is not None:
            (operator / name).parent.mkdir(parents=True, exist_ok=True)
            (operator / name).write_text(text)
    return operator


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cleanup.py": "import asyncio", "rules.py": "", "admission.py": "", "report.py": ""},
        {"act.py": None, "pod_control.py": "import asyncio", "pod_builder.py": "import re"},
        {"plan.py": None, "plan/__init__.py": "", "plan/join.py": "import enum"},
        {"remote.py": None, "remote/__init__.py": "", "remote/calls.py": "import grpc"},
        {"claim/__init__.py": "", "claim/plan/__init__.py": "", "claim/plan/step.py": ""},
        {"claim/__init__.py": "", "claim/plan.py": "",
         "claim/reconcile.py": "class ClaimReconciler: ...\n" + "x = 1\n" * 59},
        {"observe.py": "from quintant.operators.demo.plan import question"},
        {"reconcile.py": "class DemoReconciler: ...\nclass Steps: ...\ndef due(): ..."},
    ],
)  # fmt: skip
def test_shape_leaves_room_for(tmp_path: Path, changes: dict[str, str | None]) -> None:
    assert faults(tree(tmp_path, changes)) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"desk.py": ""}, "desk.py is not in the shape"),
        ({"claim/plan.py": "", "claim/desk.py": ""}, "claim/desk.py is not in the shape"),
        ({"claim/act.py": ""}, "claim is neither a part of the shape nor a kind with a plan"),
        ({"claim/plan.py": "", "claim/deep/plan.py": ""}, "claim/deep is too deep"),
        ({"observe.py": None}, "there is no observe"),
        ({"README.md": None}, "there is no README.md"),
        ({"reconcile.py": "class DemoReconciler: ...\n" + "x = 1\n" * 60},
         "reconcile.py is longer than 60 lines"),
        ({"reconcile.py": "class Demo: ..."},
         "reconcile.py has no class where one <Kind>Reconciler should be"),
        ({"reconcile.py": "class AReconciler: ...\nclass BReconciler: ..."},
         "reconcile.py has AReconciler, BReconciler where one <Kind>Reconciler should be"),
        ({"reconcile.py": "class DemoReconciler: ...\nasync def reconcile(): ..."},
         "reconcile.py has a bare function reconcile"),
        ({"claim/plan.py": "", "claim/reconcile.py": ""},
         "claim/reconcile.py has no class where one <Kind>Reconciler should be"),
        ({"plan.py": "from quintant.operators.demo.observe import Observed"},
         "plan.py imports quintant.operators.demo.observe.Observed, which stands above plan"),
        ({"plan.py": "from quintant.operators.demo import observe"},
         "plan.py imports quintant.operators.demo.observe, which stands above plan"),
        ({"plan.py": None, "plan/join.py": "import quintant.operators.demo.observe.view"},
         "plan/join.py imports quintant.operators.demo.observe.view, which stands above plan"),
        ({"claim/plan.py": "from quintant.operators.demo.claim.observe import x"},
         "claim/plan.py imports quintant.operators.demo.claim.observe.x, which stands above plan"),
        ({"claim/plan.py": "import asyncio"}, "claim/plan.py imports asyncio, which has effects"),
        ({"plan.py": "from a import b\nasync def go(): ..."}, "plan.py waits for something"),
        ({"plan.py": None, "plan/a.py": "import grpc.aio"},
         "plan/a.py imports grpc.aio, which has effects"),
        ({"plan.py": "from quintant.operators.demo import remote"},
         "plan.py imports quintant.operators.demo.remote, which has effects"),
        ({"pod_builder.py": "from quintant.runtime.cache.client import Client"},
         "pod_builder.py imports quintant.runtime.cache.client.Client, which has effects"),
        ({"__init__.py": "def controllers(manager, peers=None): ..."},
         "__init__ has no controllers(manager, options=None, remote=None)"),
        ({"__init__.py": "def controllers(manager, options, remote): ..."},
         "__init__ has no controllers(manager, options=None, remote=None)"),
    ],
)  # fmt: skip
def test_module_in_the_wrong_place_is_named(
    tmp_path: Path, changes: dict[str, str | None], fault: str
) -> None:
    assert faults(tree(tmp_path, changes)) == [fault]
