"""Where a Python source binds names, and in which role.

A binding is what makes a name: an assignment, a loop, a walrus, `with`, `except` or `match` (all of
them locals), a parameter, a field of a class, an attribute that is set on an object, a function or
a class. Imports are not: a name is the affair of the module that defines it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class Role(Enum):
    """What a name is where it is bound."""

    LOCAL = "local"
    """Of a module or a function."""
    PARAMETER = "parameter"
    FIELD = "field"
    """Of a class, also one that methods set: `self.name = …`."""
    DEFINITION = "definition"
    """A function, a method or a class."""


class Binding(NamedTuple):
    """A name that is bound."""

    name: str
    role: Role
    line: int


def bindings(source: str) -> Iterator[Binding]:
    """Every binding of a source, in no order."""
    tree = ast.parse(source)
    fields = {id(name) for node in ast.walk(tree) for name in _field_names(node)}
    for node in ast.walk(tree):
        for name, role in _bound(node, id(node) in fields):
            yield Binding(name, role, getattr(node, "lineno", 0))


def _field_names(node: ast.AST) -> Iterator[ast.AST]:
    """The names that the body of a class assigns to."""
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (each for target in targets for each in ast.walk(target))


def _bound(node: ast.AST, in_class: bool) -> Iterator[tuple[str, Role]]:
    """The names that a node binds by itself, without what is below it."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, Role.DEFINITION
        case ast.arg(arg=name):
            yield name, Role.PARAMETER
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield name, Role.FIELD
        case ast.Name(id=name, ctx=ast.Store()):
            yield name, Role.FIELD if in_class else Role.LOCAL
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name, Role.LOCAL
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name, Role.LOCAL
