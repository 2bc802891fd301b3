"""What a module declares under its public names, read from its source and never imported.

A name is followed through the imports of packages to where it is declared: `quintant.Manager` is
the class in `quintant.runtime.manager.manager`.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Imported(NamedTuple):
    """Where a module has a name from."""

    module: str
    name: str


@dataclass(frozen=True)
class Declaration:
    """A class, a function with its overloads, or a value; a whole module, if there is no node."""

    module: str
    name: str
    nodes: tuple[ast.stmt, ...] = ()
    docstring: str = ""


@dataclass(frozen=True)
class Source:
    """The source of one module."""

    name: str
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.path.read_text())

    @property
    def docstring(self) -> str:
        """What the module says about itself."""
        return ast.get_docstring(self.tree) or ""

    @cached_property
    def imports(self) -> dict[str, Imported]:
        """What it imports from elsewhere, by the names that it uses for them."""
        nodes = [each for each in statements(self.tree.body) if isinstance(each, ast.ImportFrom)]
        return {
            alias.asname or alias.name: Imported(node.module or "", alias.name)
            for node in nodes
            for alias in node.names
        }

    @cached_property
    def declared(self) -> dict[str, Declaration]:
        """What it declares itself, by name."""
        return {each.name: each for each in declarations(self.name, self.tree.body)}

    def public(self) -> tuple[str, ...]:
        """Return the names of `__all__`; without it, what it declares without underscore."""
        exported = self.declared.get("__all__")
        if exported is not None and isinstance(node := exported.nodes[0], ast.Assign):
            return tuple(ast.literal_eval(node.value))
        documented = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        return tuple(
            name
            for name, each in self.declared.items()
            if not name.startswith("_")
            and (isinstance(each.nodes[0], documented) or each.docstring)
        )


class Sources:
    """The modules below a folder, each read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Source] = {}

    def get(self, module: str) -> Source:
        """Return a module by its dotted name; LookupError if there is none."""
        if module not in self._read:
            self._read[module] = Source(module, self._path(module))
        return self._read[module]

    def find(self, module: str, name: str) -> Declaration:
        """Return what stands behind a name of a module; LookupError if nothing of ours does."""
        source = self.get(module)
        if name in source.declared:
            return source.declared[name]
        if name in source.imports:
            imported = source.imports[name]
            try:
                return self.find(*imported)
            except LookupError:
                return self._module(f"{imported.module}.{imported.name}")
        raise LookupError(f"{module} has no {name}")

    def _module(self, name: str) -> Declaration:
        return Declaration(name, name.rpartition(".")[2], docstring=self.get(name).docstring)

    def _path(self, module: str) -> Path:
        folder = self._folder.joinpath(*module.split("."))
        for path in (folder / "__init__.py", folder.with_suffix(".py")):
            if path.is_file():
                return path
        raise LookupError(f"there is no module {module}")


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, and those below its conditions."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from statements(node.body)
            yield from statements(node.orelse)


def declarations(module: str, body: list[ast.stmt]) -> Iterator[Declaration]:
    """Yield what a body declares, in its order; of two alternatives the first."""
    found: dict[str, list[ast.stmt]] = {}
    docstrings: dict[str, str] = {}
    before = ""
    for node in statements(body):
        name = _name(node)
        if name and (name not in found or _is_overload(found[name][-1])):
            found.setdefault(name, []).append(node)
            docstrings[name] = docstrings.get(name) or _docstring(node)
        elif before and (text := _text(node)):
            docstrings[before] = docstrings[before] or text
        before = name if name and isinstance(node, ast.AnnAssign | ast.Assign) else ""
    for name, nodes in found.items():
        overloads = tuple(each for each in nodes if _is_overload(each))
        yield Declaration(module, name, overloads or tuple(nodes), docstrings[name])


def _name(node: ast.stmt) -> str:
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _docstring(node: ast.stmt) -> str:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return ast.get_docstring(node) or ""
    return ""


def _text(node: ast.stmt) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
    return ""


def _is_overload(node: ast.stmt) -> bool:
    decorators = getattr(node, "decorator_list", ())
    return any(ast.unparse(each).endswith("overload") for each in decorators)
