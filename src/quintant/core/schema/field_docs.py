"""What stands below a field in the source of its class: the description that a user reads.

    replicas: Annotated[int, Meta(ge=1)]
    "How many tunnels there are; all of them serve."

Python forgets such texts, so they are read from the source. Where there is none, as in a shell,
fields have no description.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

Docs = Mapping[str, str]


def field_docs(model: type) -> Docs:
    """The text of each field that has one, by its name in Python; a subclass's own wins."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        found |= _module_docs(base.__module__).get(base.__qualname__, {})
    return found


@cache
def _module_docs(name: str) -> Mapping[str, Docs]:
    try:
        tree = ast.parse(inspect.getsource(sys.modules[name]))
    except (KeyError, OSError, TypeError, SyntaxError):
        return {}
    return dict(_classes(tree.body))


def _classes(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Docs]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, dict(_documented(node.body))
            yield from _classes(node.body, f"{prefix}{node.name}.")


def _documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, after in pairwise(body):
        match field, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, inspect.cleandoc(text)
