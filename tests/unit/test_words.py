"""Words: a retired name does not come back, and a public class name has one home.

`retired_names.txt` has a line `module old new` for every name that was retired, with the word that
took its place. A name may be retired in one module and be the right word in another; those of
`everywhere` are the right word nowhere. `make` has those of the Makefile. Words of `RETIRED_WORDS`
name nothing in the product, not even a local: there is always a noun for what they stand for.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from unit.bindings import Role, bindings

ROOT = Path(__file__).parents[2]
SOURCE_FOLDERS = ("src", "tests", "scripts", "benchmarks", "examples")
PATH_FOLDERS = ("src", "tests", "scripts")
"""Folders that are on the path: modules are named by what is below them."""


def retired_names() -> dict[str, dict[str, str]]:
    """The names of every module that were retired, and the words in their place."""
    found: dict[str, dict[str, str]] = {}
    for line in Path(__file__).with_name("retired_names.txt").read_text().splitlines():
        module, old, new = line.split()
        found.setdefault(module, {})[old] = new
    return found


RETIRED = retired_names()
EVERYWHERE, TASKS = RETIRED.pop("everywhere"), RETIRED.pop("make")
SHARED = {
    "Cluster": "what `quintant up` starts, and the kind of infra, which its document calls so",
    "Event": "Kubernetes has one in core/v1 and one in events.k8s.io/v1",
    "EventSeries": "Kubernetes has one in core/v1 and one in events.k8s.io/v1",
    "Observed": "every operator has one: what its plan is made from",
    "Options": "every operator has one: what its environment says",
    "Recorder": "what a context needs, and what the events of the runtime are",
    "Request": "the key of a reconcile, as in controller-runtime; what an HTTP client asks",
    "Index": "a handler of kopf names its own",
    "Patch": "a handler of kopf names its own",
    "Reason": "a handler of kopf names its own",
    "Resource": "a handler of kopf names its own",
    "Status": "a handler of kopf names its own",
    "Store": "a handler of kopf names its own",
    "WebhookServer": "a startup handler of kopf chooses its own",
}
"""Public classes that have several homes, and why."""
IN_EVERY_ROLE = ("told", "said", "asked", "place", "where", "ignorable", "machinery")
RETIRED_WORDS = {
    **dict.fromkeys(IN_EVERY_ROLE, frozenset(Role)),
    **dict.fromkeys(("found", "seen", "shown"), frozenset({Role.PARAMETER, Role.FIELD})),
    "crd": frozenset({Role.LOCAL, Role.PARAMETER, Role.FIELD}),
}
"""Words that name nothing in the product, and in which roles; also with underscores before them."""
DEFINITIONS = re.compile(r"apiserver/(crd|schema)/|controllers/garbage|core/schema/crd")
"""Where `crd` is the right word: a CustomResourceDefinition."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """The names that a module defines and imports."""

    name: str
    path: Path
    defined: set[str] = field(default_factory=set)
    """Names of the module, and `Class.name` for those of its classes."""
    classes: set[str] = field(default_factory=set)
    imported: set[tuple[str, str]] = field(default_factory=set)
    """The module and the name that is imported from there."""


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the repository."""
    paths = (path for folder in SOURCE_FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return tuple(read(path) for path in sorted(paths))


def read(path: Path) -> Module:
    found = Module(module_name(path.relative_to(ROOT)), path.relative_to(ROOT))
    tree = ast.parse(path.read_text())
    found.defined.update(name for node in tree.body for name in names_of(node))
    found.classes.update(node.name for node in tree.body if isinstance(node, ast.ClassDef))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            found.defined.update(f"{node.name}.{name}" for name in attributes(node))
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.imported.update((node.module, alias.name) for alias in node.names)
    return found


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] in PATH_FOLDERS else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names_of(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds."""
    if isinstance(node, Function | ast.ClassDef):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    yield from (each.id for each in targets if isinstance(each, ast.Name))


def attributes(node: ast.ClassDef) -> Iterator[str]:
    """Fields and methods of a class, and what its methods set on `self`."""
    for statement in node.body:
        yield from names_of(statement)
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            yield each.attr


def retired(module: Module) -> Iterator[str]:
    """What a module still calls by a name that was retired."""
    here = RETIRED.get(module.name, {})
    for old in sorted(module.defined & here.keys()):
        yield f"{module.path} defines {old}: its word is {here[old]}"
    for old in sorted((module.defined | {name for _, name in module.imported}) & EVERYWHERE.keys()):
        yield f"{module.path} uses {old}: its word is {EVERYWHERE[old]}"
    for source, old in sorted(module.imported):
        if new := RETIRED.get(source, {}).get(old):
            yield f"{module.path} imports {old} from {source}: its word is {new}"


def test_retired_names_are_neither_defined_nor_imported() -> None:
    assert [line for module in modules() for line in retired(module)] == []


def test_names_are_retired_where_there_is_a_module() -> None:
    assert RETIRED.keys() - {module.name for module in modules()} == set()


def test_a_retired_name_is_found_again() -> None:
    source, words = next(iter(RETIRED.items()))
    old = next(iter(words))
    for again in (
        Module(source, Path("again.py"), {old}),
        Module("elsewhere", Path("again.py"), imported={(source, old)}),
        Module("elsewhere", Path("again.py"), {next(iter(EVERYWHERE))}),
    ):
        assert list(retired(again)) != []


def retired_words(path: str, source: str) -> Iterator[str]:
    """What a source of the product still calls by a retired word."""
    for name, role, line in sorted(bindings(source), key=lambda binding: binding.line):
        word = name.strip("_").lower()
        if role in RETIRED_WORDS.get(word, ()) and not (word == "crd" and DEFINITIONS.search(path)):
            yield f"{path}:{line}: {role.value} {name}"


def test_retired_words_name_nothing() -> None:
    assert [
        line
        for path in sorted((ROOT / "src").rglob("*.py"))
        for line in retired_words(path.relative_to(ROOT).as_posix(), path.read_text())
    ] == []


@pytest.mark.parametrize(
    ("source", "role"),
    [
        ("def f():\n    told = 1", "local told"),
        ("def f():\n    told, _ = g()", "local told"),
        ("def f():\n    told += 1", "local told"),
        ("def f():\n    for said in g(): ...", "local said"),
        ("def f():\n    with g() as place: ...", "local place"),
        ("def f(x):\n    return [1 for where in x]", "local where"),
        ("def f():\n    if asked := g(): ...", "local asked"),
        ("def f(x):\n    match x:\n        case [told, *_]: ...", "local told"),
        ("def f(x):\n    match x:\n        case {**told}: ...", "local told"),
        ("def f():\n    try: ...\n    except Error as told: ...", "local told"),
        ("def f(x, *, ignorable): ...", "parameter ignorable"),
        ("def f(x, **seen): ...", "parameter seen"),
        ("f = lambda found: found", "parameter found"),
        ("class A:\n    shown: int = 0", "field shown"),
        ("class A:\n    machinery = 0", "field machinery"),
        ("class A:\n    def f(self):\n        self._told = 1", "field _told"),
        ("def _told(): ...", "definition _told"),
        ("_TOLD = 1", "local _TOLD"),
        ("class A:\n    async def place(self): ...", "definition place"),
        ("def f(crd): ...", "parameter crd"),
    ],
)
def test_a_retired_word_is_found_in_every_role(source: str, role: str) -> None:
    number = 1 + source.count("\n", 0, source.index(role.split()[1]))
    assert list(retired_words("src/a.py", source)) == [f"src/a.py:{number}: {role}"]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("src/a.py", "def f():\n    found = seen = shown = 1\n    return found"),
        ("src/a.py", "from a import told\nprint(a.told, told(said=1))"),
        ("src/a.py", "def f(untold, places): ..."),
        ("src/quintant/cluster/apiserver/crd/validate.py", "def f(crd): ..."),
    ],
)
def test_other_words_are_free(path: str, source: str) -> None:
    assert list(retired_words(path, source)) == []


WHOLE_KINDS = "quintant.api.kubernetes."
"""Generated, under Kubernetes' names: the views of the same kinds beside it have those too."""


def test_a_public_class_name_has_one_home() -> None:
    product = [
        module
        for module in modules()
        if module.name.split(".")[0] == "quintant" and not module.name.startswith(WHOLE_KINDS)
    ]
    names = Counter(name for module in product for name in module.classes if name[0] != "_")
    assert {name for name, homes in names.items() if homes > 1} == SHARED.keys()


def test_retired_tasks_are_not_in_the_makefile() -> None:
    tasks = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert tasks
    assert tasks & TASKS.keys() == set()
