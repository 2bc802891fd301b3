"""cel-go parser.Parser: from text to a tree, by the grammar of the language.

The grammar and the macros of one variable are cel-cpp's, whose complaints about syntax are a real
server's word for word; only here is it used. Its tree comes as a protobuf message (cel.expr.
ParsedExpr). Macros of two variables are expanded here.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from quintant.cluster.apiserver.cel.ast import (
    CallExpr,
    Comprehension,
    Const,
    Expr,
    FieldValue,
    Ident,
    ListOf,
    MapOf,
    Pair,
    ParsedExpression,
    Select,
    StructOf,
    children,
)
from quintant.cluster.apiserver.cel.macros import expand_macros
from quintant.cluster.apiserver.cel.values import Uint
from quintant.wire.protobuf import (
    Wire,
    bytes_in,
    members,
    number_in,
    numbers,
    signed,
    tag,
    text,
)

_ENVELOPE = re.compile(r"^[A-Z_]+: (.*) \[[A-Z_]+\]$", re.DOTALL)
# The one complaint that is worded differently.
_HAS = ("has() argument must be a field selection", "invalid argument to has() macro")
_MAX_BITS = 64


class BadSyntax(ValueError):
    """A text is no expression; it points at what is wrong."""


def parse(expression: str) -> ParsedExpression:
    """The tree of an expression; BadSyntax if it has none."""
    try:
        packed = _environment().compile(expression, disable_check=True).serialize()
    except RuntimeError as error:
        found = _ENVELOPE.match(str(error))
        raise BadSyntax((found[1] if found else str(error)).replace(*_HAS)) from None
    parsed = dict(members(bytes_in(dict(members(packed)), 2)))
    positions = dict(_positions(bytes_in(parsed, 3)))
    root, made = expand_macros(_expr(bytes_in(parsed, 2)), max(positions, default=0))
    # A message is where its brace is, not where its name begins.
    for node in _messages(root):
        positions[node.id] = expression.index("{", positions[node.id])
    places = {
        made_node: positions[origin] for made_node, origin in made.items() if origin in positions
    }
    return ParsedExpression(expression, root, positions | places)


@cache
def _environment() -> Any:
    # Costs 14 MB and 20 ms, and only definitions with rules need it.
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_optional

    return cel.NewEnv(extensions=[ext_optional.ExtOptional()])


def _messages(node: Expr) -> Iterator[StructOf]:
    if isinstance(node, StructOf):
        yield node
    for child in children(node):
        yield from _messages(child)


def _positions(info: bytes) -> Iterator[tuple[int, int]]:
    for key, value in members(info):
        if key == tag(4, Wire.LENGTH) and isinstance(value, bytes):
            entry = dict(members(value))
            yield number_in(entry, 1), number_in(entry, 2)


def _expr(data: bytes) -> Expr:
    found = dict(members(data))
    node = number_in(found, 2)
    for number, build in _KINDS.items():
        part = found.get(tag(number, Wire.LENGTH))
        if isinstance(part, bytes):
            return build(node, part)
    raise BadSyntax("the expression is empty")


def _const(node: int, data: bytes) -> Expr:
    for key, value in members(data):
        return Const(node, _CONSTANTS[key >> 3](value))
    return Const(node, None)


def _double(value: Any) -> float:
    return float(struct.unpack("<d", value)[0])


_CONSTANTS: dict[int, Any] = {
    1: lambda value: None,
    2: bool,
    3: lambda value: signed(value, _MAX_BITS),
    4: Uint,
    5: _double,
    6: text,
    7: bytes,
}


def _ident(node: int, data: bytes) -> Expr:
    return Ident(node, text(bytes_in(dict(members(data)), 1)))


def _select(node: int, data: bytes) -> Expr:
    found = dict(members(data))
    field = text(bytes_in(found, 2))
    return Select(node, _expr(bytes_in(found, 1)), field, test=bool(number_in(found, 3)))


def _call(node: int, data: bytes) -> Expr:
    found = dict(members(data))
    target = bytes_in(found, 1)
    args = tuple(_expr(part) for part in _all(data, 3))
    return CallExpr(node, text(bytes_in(found, 2)), args, _expr(target) if target else None)


def _list(node: int, data: bytes) -> Expr:
    items = tuple(_expr(part) for part in _all(data, 1))
    optional = numbers(bytes_in(dict(members(data)), 2))
    return ListOf(node, items, frozenset(optional))


def _struct(node: int, data: bytes) -> Expr:
    name = bytes_in(dict(members(data)), 1)
    if name:
        return StructOf(node, text(name), tuple(_field_value(part) for part in _all(data, 2)))
    return MapOf(node, tuple(_pair(part) for part in _all(data, 2)))


def _pair(data: bytes) -> Pair:
    found = dict(members(data))
    key, value = _expr(bytes_in(found, 3)), _expr(bytes_in(found, 4))
    return Pair(key, value, optional=bool(number_in(found, 5)))


def _field_value(data: bytes) -> FieldValue:
    found = dict(members(data))
    name, value = text(bytes_in(found, 2)), _expr(bytes_in(found, 4))
    return FieldValue(number_in(found, 1), name, value, optional=bool(number_in(found, 5)))


def _fold(node: int, data: bytes) -> Expr:
    found = dict(members(data))
    return Comprehension(
        node,
        var=text(bytes_in(found, 1)),
        range=_expr(bytes_in(found, 2)),
        accu=text(bytes_in(found, 3)),
        init=_expr(bytes_in(found, 4)),
        condition=_expr(bytes_in(found, 5)),
        step=_expr(bytes_in(found, 6)),
        result=_expr(bytes_in(found, 7)),
    )


def _all(data: bytes, number: int) -> Iterator[bytes]:
    for key, value in members(data):
        if key == tag(number, Wire.LENGTH) and isinstance(value, bytes):
            yield value


_KINDS: dict[int, Callable[[int, bytes], Expr]] = {
    3: _const,
    4: _ident,
    5: _select,
    6: _call,
    7: _list,
    8: _struct,
    9: _fold,
}
