"""cel-go checker.Check: types of an expression: names are declared, fields exist, overloads match.

The complaints are a real server's, and point at their place. What passes can still fail when it
runs, where a type is known only then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quintant.cluster.apiserver.cel.ast import (
    CallExpr,
    Comprehension,
    Const,
    Expr,
    FieldValue,
    Ident,
    ListOf,
    MapOf,
    ParsedExpression,
    Select,
    StructOf,
)
from quintant.cluster.apiserver.cel.literals import CheckedExpression, bad_literals
from quintant.cluster.apiserver.cel.patch_types import PATCHES, is_object, resolve_type
from quintant.cluster.apiserver.cel.schemas import RESERVED
from quintant.cluster.apiserver.cel.signatures import Overload, signatures
from quintant.cluster.apiserver.cel.types import (
    ANY,
    BOOL,
    INT,
    LIST,
    MAP,
    NULL,
    OPTIONAL,
    Bindings,
    CelType,
    assignable,
    joined,
    list_of,
    map_of,
    optional_of,
    resolve,
)
from quintant.cluster.apiserver.cel.values import kind_of

_LOGICAL = ("_&&_", "_||_")
_TYPES = ("int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type")
_ARITIES = {LIST: 1, MAP: 2}
OPTIONAL_SELECT = "_?._"


class IllTyped(ValueError):
    """An expression cannot be right; the text points at what is wrong."""


def check(
    source: ParsedExpression, variables: Mapping[str, CelType], *, patch_types: bool = False
) -> CheckedExpression:
    """The types of an expression, which may make patches; IllTyped if it has none."""
    checker = _Checker(source, patch_types=patch_types)
    checker.type_of(source.root, dict(variables))
    complaints = checker.complaints or list(bad_literals(checker.checked))
    if complaints:
        raise IllTyped("\n".join(text for _, text in sorted(complaints, key=_position)))
    return checker.checked


def _position(complaint: tuple[int, str]) -> int:
    return complaint[0]


Scope = dict[str, CelType]


class _Checker:
    def __init__(self, source: ParsedExpression, *, patch_types: bool) -> None:
        self.checked = CheckedExpression(source)
        self._patch_types = patch_types
        self.complaints: list[tuple[int, str]] = []

    def type_of(self, node: Expr, scope: Scope) -> CelType:
        found = self._type_of(node, scope)
        self.checked.types[node.id] = found
        return found

    def _type_of(self, node: Expr, scope: Scope) -> CelType:
        match node:
            case Const():
                return NULL if node.value is None else CelType(kind_of(node.value))
            case Ident():
                return self._ident(node, scope)
            case Select():
                found = self._field(node, self.type_of(node.operand, scope), node.field)
                return BOOL if node.test else found
            case CallExpr():
                return self._call(node, scope)
            case ListOf():
                return self._list(node, scope)
            case MapOf():
                return self._map(node, scope)
            case StructOf():
                return self._struct(node, scope)
            case Comprehension():
                return self._fold(node, scope)

    def complain(self, node: Expr | FieldValue, message: str) -> CelType:
        source = self.checked.source
        position = source.positions.get(node.id, 0)
        self.complaints.append((position, source.complaint(node.id, message)))
        return ANY

    def _ident(self, node: Ident, scope: Scope) -> CelType:
        if node.name in scope:
            return scope[node.name]
        if node.name in _TYPES:
            return CelType("type", (CelType(node.name, (ANY,) * _ARITIES.get(node.name, 0)),))
        return self.complain(node, f"undeclared reference to '{node.name}' (in container '')")

    def _field(self, node: Expr | FieldValue, operand: CelType, name: str) -> CelType:
        if operand.name == OPTIONAL:
            below = self._field(node, operand.item, name)
            return below if below.name == OPTIONAL else optional_of(below)
        if operand.name == MAP:
            return operand.item
        if operand.unknown or is_object(operand.name):
            return ANY
        if operand.params or (not operand.fields and operand.name in _SIMPLE):
            return self.complain(node, f"type '{operand}' does not support field selection")
        found = operand.fields.get(f"__{name}__" if name in RESERVED else name)
        return found or self.complain(node, f"undefined field '{name}'")

    def _call(self, node: CallExpr, scope: Scope) -> CelType:
        if node.function == OPTIONAL_SELECT:
            return self._optional_select(node, scope)
        qualified = _qualified(node, scope, patch_types=self._patch_types)
        if qualified is not None:
            self.checked.namespaced[node.id] = qualified
            return self._apply(qualified, scope)
        return self._apply(node, scope)

    def _optional_select(self, node: CallExpr, scope: Scope) -> CelType:
        operand, name = node.args
        target = self.type_of(operand, scope)
        assert isinstance(name, Const), "the grammar has a name here"
        found = self._field(node, target, name.value)
        return found if found.name == OPTIONAL else optional_of(found)

    def _apply(self, node: CallExpr, scope: Scope) -> CelType:
        given = [self.type_of(each, scope) for each in node.operands]
        overloads = signatures().get(node.function)
        if overloads is None:
            return self.complain(
                node, f"undeclared reference to '{node.function}' (in container '')"
            )
        if node.function in _LOGICAL:
            return self._logical(node, given)
        results = list(_results(overloads, given, method=node.target is not None))
        if not results:
            return self.complain(node, _unmatched(node, given))
        first, *others = results
        return first if all(str(first) == str(other) for other in others) else ANY

    def _logical(self, node: CallExpr, given: list[CelType]) -> CelType:
        for arg, found in zip(node.args, given, strict=True):
            if not assignable(BOOL, found, {}):
                self.complain(arg, f"expected type 'bool' but found '{found}'")
        return BOOL

    def _list(self, node: ListOf, scope: Scope) -> CelType:
        item: CelType | None = None
        for at, each in enumerate(node.items):
            found = self.type_of(each, scope)
            if at in node.optional and found.name == OPTIONAL:
                found = found.item
            item = found if item is None else joined(item, found)
        return list_of(item or CelType("T"))

    def _map(self, node: MapOf, scope: Scope) -> CelType:
        key: CelType | None = None
        value: CelType | None = None
        for entry in node.entries:
            keyed, found = self.type_of(entry.key, scope), self.type_of(entry.value, scope)
            if entry.optional and found.name == OPTIONAL:
                found = found.item
            key = keyed if key is None else joined(key, keyed)
            value = found if value is None else joined(value, found)
        return map_of(key or CelType("K"), value or CelType("V"))

    def _struct(self, node: StructOf, scope: Scope) -> CelType:
        declared = resolve_type(node.type_name) if self._patch_types else None
        if declared is None:
            return self.complain(
                node, f"undeclared reference to '{node.type_name}' (in container '')"
            )
        for entry in node.entries:
            self._field_value(entry, declared, self.type_of(entry.value, scope))
        return declared

    def _field_value(self, entry: FieldValue, declared: CelType, given: CelType) -> None:
        wanted = self._field(entry, declared, entry.name)
        if entry.optional and given.name == OPTIONAL:
            given = given.item
        if not assignable(wanted, given, {}):
            self.complain(
                entry,
                f"expected type of field '{entry.name}' is '{wanted}' "
                f"but provided type is '{given}'",
            )

    def _fold(self, node: Comprehension, scope: Scope) -> CelType:
        ranged = self.type_of(node.range, scope)
        inner = {**scope, node.accu: self.type_of(node.init, scope)}
        inner |= self._loop_variables(node, ranged)
        self.type_of(node.condition, inner)
        step = self.type_of(node.step, inner)
        return self.type_of(node.result, {**scope, node.accu: step})

    def _loop_variables(self, node: Comprehension, ranged: CelType) -> Scope:
        if ranged.unknown:
            return {node.var: ANY} | ({node.var2: ANY} if node.var2 else {})
        if ranged.name == LIST:
            item = ranged.item
            return {node.var: INT, node.var2: item} if node.var2 else {node.var: item}
        if ranged.name == MAP:
            key, value = ranged.params
            return {node.var: key, node.var2: value} if node.var2 else {node.var: key}
        text = (
            f"expression of type '{ranged}' cannot be range of a comprehension "
            "(must be list, map, or dynamic)"
        )
        return {node.var: self.complain(node.range, text), node.var2: ANY}


_SIMPLE = frozenset({*_TYPES, "duration", "timestamp", "null"})


def _qualified(node: CallExpr, scope: Scope, *, patch_types: bool) -> CallExpr | None:
    """A method call on names that is really a function, such as `sets.contains(…)`."""
    prefix = _dotted(node.target) if node.target is not None else ""
    if not prefix or prefix.partition(".")[0] in scope:
        return None
    name = f"{prefix}.{node.function}"
    if name in PATCHES and not patch_types:
        return None
    return CallExpr(node.id, name, node.args) if name in signatures() else None


def _dotted(node: Expr) -> str:
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.test:
        below = _dotted(node.operand)
        return f"{below}.{node.field}" if below else ""
    return ""


def _results(
    overloads: tuple[Overload, ...], given: list[CelType], *, method: bool
) -> Iterator[CelType]:
    for overload in overloads:
        bound: Bindings = {}
        if overload.method != method or len(overload.params) != len(given):
            continue
        pairs = zip(overload.params, given, strict=True)
        if all(assignable(wanted, found, bound) for wanted, found in pairs):
            yield resolve(overload.result, bound)


def _unmatched(node: CallExpr, given: list[CelType]) -> str:
    if node.target is None:
        applied = f"({', '.join(map(str, given))})"
    else:
        applied = f"{given[0]}.({', '.join(map(str, given[1:]))})"
    return f"found no matching overload for '{node.function}' applied to '{applied}'"
