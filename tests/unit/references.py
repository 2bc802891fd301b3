"""What documents and docstrings name, and what of it is not there.

A name is what stands between backquotes: a path (`runtime/watch/reflector.py`, `tests/real/`), a
module or what is in one (`quintant.core.clock`), a member of a class (`SyncMode.FULL`), or a test
(`test_docs`). Docstrings name modules and paths without backquotes as well. Fenced blocks are left
out: `test_docs.py` runs those. What only looks like one of ours is in `references_ignored.txt`, a
regular expression a line. The changelog tells of what is no more, and is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

DOCUMENTS = ("*.md", "docs/**/*.md", "src/**/*.md", "tests/**/*.md", "examples/**/*.md")
HISTORY = "CHANGELOG.md"
PYTHON_FOLDERS = ("src", "tests", "scripts", "benchmarks")
BASES = ("", "src", "docs", "scripts", "benchmarks", "examples", "deploy")
"""Folders that a path may start from, beside that of the document."""
TAIL_FOLDERS = ("src/quintant", "tests")
"""Folders in which the end of a path is enough: `reconcile.py`, `apiserver/crd`."""
SUFFIXES = (".py", ".md", ".toml", ".txt", ".jsonl", ".yaml", ".json", ".tsv")
FIRST_PARTS = ("src", "tests", "docs", "scripts", "benchmarks", "examples", "deploy", "cluster",
               "runtime", "operators", "agents")  # fmt: skip
"""What a path without a suffix starts with: anything else may be a label, or `apps/v1`."""

_FOREIGN = re.compile(
    r"^(/|~|\$|http|kubernetes/|k8s\.io|pkg/|staging/|var/|etc/|proc/|tmp/|sigs\.k8s|apps/|batch/"
    r"|autoscaling/)|[<>{}*|:=,()\s]|\.\.\."
)
_SPAN = re.compile(r"`([^`]+)`")
_IN_DOCSTRING = re.compile(r"`([^`]+)`|\b(quintant(?:\.[a-z_]\w*)+)\b|\b(\w+/[\w/]+\.py)\b")
_MEMBER = re.compile(r"([A-Z]\w+)\.(\w+)")
_PUBLIC = "src/quintant/__init__.py"
_WITHOUT_MEMBERS = {"object", "Generic", "Protocol", ""}
"""Base classes that bring no member that a document would name."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Reference(NamedTuple):
    """A name in a document or docstring."""

    path: Path
    line: int
    text: str


class ClassMembers(NamedTuple):
    """Classes of one name: what they have, and what they are made from."""

    members: set[str]
    bases: set[str]


class Checkout:
    """The files, modules, classes and tests of a checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules: dict[str, set[str]] = {}
        self.classes: dict[str, ClassMembers] = {}
        self.tests: set[str] = set()
        self.docstrings: list[Reference] = []
        for folder in PYTHON_FOLDERS:
            for path in sorted((root / folder).rglob("*.py")):
                self._read(path, path.relative_to(root / folder))
        if (root / _PUBLIC).is_file():  # what is loaded when first used is in a table of texts
            public = re.findall(r'"(\w+)"', (root / _PUBLIC).read_text())
            self.modules["quintant"].update(public)

    def _read(self, path: Path, inside: Path) -> None:
        tree = ast.parse(path.read_text())
        parts = inside.with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.modules[name] = {bound for node in tree.body for bound in _bound(node)}
        self.tests |= {path.stem, *self.modules[name]}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                known = self.classes.setdefault(node.name, ClassMembers(set(), set()))
                known.members.update(_members(node))
                known.bases.update(map(_base_name, node.bases))
                self.tests |= known.members
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                self.docstrings.extend(_in_docstring(path, node.lineno, node.value.value))

    @cached_property
    def tails(self) -> set[str]:
        """The ends of all paths below the folders in which an end is enough."""
        return {
            tail
            for folder in TAIL_FOLDERS
            for path in (self.root / folder).rglob("*")
            for tail in _tails(path.relative_to(self.root / folder))
        }

    def documents(self) -> Iterator[Reference]:
        """What the pages name outside of fenced blocks."""
        for path in sorted(path for pattern in DOCUMENTS for path in self.root.glob(pattern)):
            fenced = path.name == HISTORY
            for number, line in enumerate(path.read_text().splitlines(), 1):
                fenced ^= line.lstrip().startswith("```") and path.name != HISTORY
                if not fenced:
                    yield from (Reference(path, number, text) for text in _SPAN.findall(line))

    def problem(self, reference: Reference) -> str:
        """Why what is named is not there; empty if it is, or is not ours to know."""
        text = reference.text.strip().rstrip(".")
        if _FOREIGN.search(text):
            return ""
        if _is_path(text):
            return "" if self._has_path(reference.path, text) else "no such file or folder"
        if re.fullmatch(r"quintant(\.\w+)+", text):
            return "" if self._has_dotted(text) else "no such module or name"
        if re.fullmatch(r"test_\w+", text):
            return "" if text in self.tests else "no such test"
        member = _MEMBER.fullmatch(text)
        if member and not self._has_member(member[1], member[2]):
            return f"{member[1]} has no {member[2]}"
        return ""

    def _has_path(self, document: Path, text: str) -> bool:
        path = text.rstrip("/")
        bases = [document.parent, *(self.root / base for base in BASES)]
        return path in self.tails or any((base / path).exists() for base in bases)

    def _has_dotted(self, text: str) -> bool:
        parts = text.split(".")
        homes = [name for name in accumulate(parts, "{}.{}".format) if name in self.modules]
        if not homes:
            return False
        inside = parts[homes[-1].count(".") + 1 :]
        if not inside or inside[0] not in self.modules[homes[-1]]:
            return not inside
        return len(inside) == 1 or self._has_member(inside[0], inside[1])

    def _has_member(self, name: str, member: str, below: frozenset[str] = frozenset()) -> bool:
        """Whether a class has a member, or it cannot be known: a base of it is not ours."""
        if name not in self.classes:
            return name not in _WITHOUT_MEMBERS
        members, bases = self.classes[name]
        if member in members or not members:
            return True
        return any(self._has_member(base, member, below | {name}) for base in bases - below)


def dangling(root: Path, ignored: Iterable[str] = ()) -> Iterator[str]:
    """What documents and docstrings of a checkout name and what is not there, a line each."""
    checkout, others = Checkout(root), [re.compile(pattern) for pattern in ignored]
    for each in (*checkout.documents(), *checkout.docstrings):
        reason = checkout.problem(each)
        if reason and not any(pattern.search(each.text) for pattern in others):
            yield f"{each.path.relative_to(root)}:{each.line}: `{each.text}`: {reason}"


def _is_path(text: str) -> bool:
    if not ("/" in text or text.endswith((".py", ".md"))):
        return False
    return text.endswith((*SUFFIXES, "/")) or (
        text.split("/")[0] in FIRST_PARTS and re.fullmatch(r"[\w./-]+", text) is not None
    )


def _tails(path: Path) -> Iterator[str]:
    yield from ("/".join(path.parts[start:]) for start in range(len(path.parts)))


def _in_docstring(path: Path, line: int, text: object) -> Iterator[Reference]:
    if isinstance(text, str):
        for match in _IN_DOCSTRING.finditer(text):
            number = line + text.count("\n", 0, match.start())
            yield Reference(path, number, next(each for each in match.groups() if each))


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds."""
    if isinstance(node, Definition):
        yield node.name
    elif isinstance(node, ast.Assign):
        names = (name for target in node.targets for name in ast.walk(target))
        yield from (name.id for name in names if isinstance(name, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((each.asname or each.name).split(".")[0] for each in node.names)
    elif isinstance(node, ast.If | ast.Try):
        for each in ast.iter_child_nodes(node):
            yield from _bound(each)


def _members(node: ast.ClassDef) -> Iterator[str]:
    """Fields and methods, what methods set, and the texts of enums that are made from them."""
    for each in ast.walk(node):
        yield from _bound(each)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            yield each.attr
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _base_name(base: ast.expr) -> str:
    base = base.value if isinstance(base, ast.Subscript) else base
    return base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
