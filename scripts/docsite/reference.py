"""The reference of public names, made from their docstrings: pages that nobody writes by hand.

A page holds one module as users import it. What `quintant` and `quintant.testing` export is there;
so are the two packages of the runtime that export names, the modules of Kubernetes' kinds (the
complete ones have a page of their own in `docs/`), and whatever else pages and examples import.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from docsite.declarations import Declaration, Sources
from docsite.lists import widened
from docsite.navigation import Section
from docsite.page_imports import page_imports
from docsite.signatures import fields, heads, members

FOLDER = PurePosixPath("reference")
PROGRAM = {
    "quintant": "quintant",
    "quintant.when": "quintant.runtime.source.predicates",
    "quintant.errors": "quintant.core.errors",
    "quintant.testing": "quintant.testing",
    "quintant.runtime.apply": "quintant.runtime.apply",
    "quintant.runtime.webhook": "quintant.runtime.webhook",
}
"""What users import, and the module that it is."""
_KINDS = "quintant.api"
_MAY_CHANGE = (
    "Pages and examples import this. `quintant` does not export it, so it may change at any time."
)
_KIND_OF_NAME = ((ast.ClassDef, "Classes"), (ast.FunctionDef | ast.AsyncFunctionDef, "Functions"))
_REST = "Values"
_NAME = re.compile(r"`(\w+)`")
_CODE = re.compile(r"(`[^`]*`)")


class Reference:
    """Every page of the reference of a repository."""

    def __init__(self, root: Path) -> None:
        self._sources = Sources(root / "src")
        folder = root.joinpath("src", *_KINDS.split("."))
        kinds = sorted(f"{_KINDS}.{path.stem}" for path in folder.glob("[!_]*.py"))
        self._kinds = {name: name for name in kinds}
        imported = page_imports(root)
        self._further = {name: each for name, each in imported.items() if name not in PROGRAM}
        self._homes = {**PROGRAM, **self._kinds, **{name: name for name in self._further}}

    def sections(self) -> tuple[Section, ...]:
        """Return its part of the navigation."""
        parts = (("Reference", PROGRAM), ("Kinds", self._kinds), ("Further", self._further))
        return tuple(Section(title, tuple(map(_file, names))) for title, names in parts)

    def pages(self) -> Mapping[PurePosixPath, str]:
        """Return the text of every page: where it stands on the website, and its Markdown."""
        return {PurePosixPath(_file(name)): self._page(name) for name in self._homes}

    def public(self, page: str) -> Iterator[Declaration]:
        """Yield what a page describes."""
        module = self._homes[page]
        for name in self._further.get(page) or self._sources.get(module).public():
            found = self._sources.find(module, name)
            yield Declaration(found.module, name, found.nodes, found.docstring)

    def _page(self, page: str) -> str:
        source = self._sources.get(self._homes[page])
        public = list(self.public(page))
        parts = [f"# {page}", self._introduction(page), self._prose(page, source.docstring)]
        parts.append(_contents(public))
        for title, group in _grouped(public):
            parts.append(f"## {title}")
            for each in group:
                parts += self._entry(page, each)
        return "\n\n".join(filter(None, parts)) + "\n"

    def _introduction(self, page: str) -> str:
        if page != self._homes[page]:
            package, _, name = page.rpartition(".")
            return _code(f"from {package} import {name}")
        return _MAY_CHANGE if page in self._further else ""

    def _entry(self, page: str, entry: Declaration) -> Iterator[str]:
        yield f"### {entry.name} {{ #{entry.name} }}"
        if not entry.nodes:
            yield f"The module [quintant.{entry.name}](quintant.{entry.name}.md)."
            return
        yield _code(heads(entry))
        yield self._prose(page, entry.docstring)
        if isinstance(node := entry.nodes[0], ast.ClassDef):
            yield from self._class(page, entry, node)

    def _class(self, page: str, entry: Declaration, node: ast.ClassDef) -> Iterator[str]:
        described = [each for each in fields(entry.module, node) if each.docstring]
        yield "\n".join(f"- `{each.name}`: {_one_line(each.docstring)}" for each in described)
        for each in self._members(entry.module, node, {}).values():
            yield f"#### {entry.name}.{each.name} {{ #{entry.name}.{each.name} }}"
            yield _code(heads(each))
            yield self._prose(page, each.docstring)

    def _members(
        self, module: str, node: ast.ClassDef, known: dict[str, Declaration]
    ) -> dict[str, Declaration]:
        """Return the members of a class and of those bases that no page describes."""
        for each in members(module, node):
            known.setdefault(each.name, each)
        for base in node.bases:
            found = self._base(module, base)
            if found is not None and isinstance(inner := found.nodes[0], ast.ClassDef):
                self._members(found.module, inner, known)
        return known

    def _base(self, module: str, base: ast.expr) -> Declaration | None:
        name = ast.unparse(base).partition("[")[0]
        try:
            found = self._sources.find(module, name)
        except LookupError:
            return None
        return found if found.nodes and found.name not in self._described else None

    @property
    def _described(self) -> frozenset[str]:
        return frozenset(self._sources.get("quintant").public())

    def _prose(self, page: str, docstring: str) -> str:
        """Return a docstring as Markdown, in which names that `quintant` exports are links."""
        exported = self._sources.get("quintant").public()

        def linked(found: re.Match[str]) -> str:
            name = found[1]
            if name not in exported:
                return found[0]
            file = "" if page == "quintant" else "quintant.md"
            return f"[{found[0]}]({file}#{name})"

        lines = (
            line if line.startswith("    ") else _NAME.sub(linked, line)
            for line in docstring.splitlines()
        )
        return widened("\n".join(map(_escaped, lines)))


def _file(page: str) -> str:
    return str(FOLDER / f"{page}.md")


def _contents(public: list[Declaration]) -> str:
    rows = (f"| [{each.name}](#{each.name}) | {_summary(each.docstring)} |" for each in public)
    return "\n".join(("| name | |", "|---|---|", *rows))


def _grouped(public: list[Declaration]) -> Iterator[tuple[str, list[Declaration]]]:
    titles = [title for _, title in _KIND_OF_NAME] + [_REST]
    for title in titles:
        if group := [each for each in public if _title(each) == title]:
            yield title, group


def _title(entry: Declaration) -> str:
    for node, title in _KIND_OF_NAME:
        if entry.nodes and isinstance(entry.nodes[0], node):
            return title
    return _REST


def _summary(docstring: str) -> str:
    first = docstring.partition("\n\n")[0]
    return _escaped(_one_line(first).partition(". ")[0].rstrip(".")).replace("|", "\\|")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    """Return prose in which nothing but code may look like a tag."""
    parts = _CODE.split(text)
    return "".join(each if each.startswith("`") else each.replace("<", "&lt;") for each in parts)


def _code(text: str) -> str:
    return f"```python\n{text}\n```"
