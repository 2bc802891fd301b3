"""cel-go types.Type: types of expressions, and how they are compared.

A type is a name with parameters; an object's fields are its schema's. Names in capitals are
variables that a signature binds. `dyn` is every type: what is not known until the rule runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

UNBOUNDED = 2**64 - 1
"""The size of what nothing is known about."""


@dataclass(frozen=True, slots=True, eq=False)
class CelType:
    """What a value may be."""

    name: str
    params: tuple[CelType, ...] = ()
    fields: Mapping[str, CelType] = field(default_factory=dict)
    """Of an object, by the names that expressions use."""
    most: int = UNBOUNDED
    """How many characters, items or entries it can have, if a schema tells."""
    least: int = 1
    """Bytes of the smallest value in JSON."""

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"

    @property
    def variable(self) -> bool:
        return self.name.isupper()

    @property
    def unknown(self) -> bool:
        """Whether only running the rule tells the type."""
        return self.name == "dyn"

    @property
    def item(self) -> CelType:
        """What a list holds, or a map's values."""
        return self.params[-1]


ANY, BOOL, BYTES, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, TYPE, UINT = (
    CelType(name)
    for name in (
        *("dyn", "bool", "bytes", "double", "duration", "int", "null", "string", "timestamp"),
        *("type", "uint"),
    )
)
QUANTITY, IP, CIDR, URL, FORMAT, SEMVER = (
    CelType(name)
    for name in (
        *("kubernetes.Quantity", "net.IP", "net.CIDR", "kubernetes.URL"),
        *("kubernetes.NamedFormat", "kubernetes.Semver"),
    )
)
OBJECT = "object"
LIST = "list"
MAP = "map"
OPTIONAL = "optional_type"
_SCALARS = frozenset({"bool", "bytes", "double", "int", "string", "uint", "type"})

Bindings = dict[str, CelType]


def list_of(item: CelType, most: int = UNBOUNDED) -> CelType:
    return CelType(LIST, (item,), most=most, least=2)


def map_of(key: CelType, value: CelType, most: int = UNBOUNDED) -> CelType:
    return CelType(MAP, (key, value), most=most, least=2)


def optional_of(value: CelType) -> CelType:
    return CelType(OPTIONAL, (value,))


def resolve(wanted: CelType, bound: Bindings) -> CelType:
    """A type with its variables replaced; free ones are anything."""
    if wanted.variable:
        found = bound.get(wanted.name)
        return ANY if found is None else resolve(found, bound)
    if not wanted.params:
        return wanted
    params = tuple(resolve(param, bound) for param in wanted.params)
    return CelType(wanted.name, params, wanted.fields, wanted.most, wanted.least)


def assignable(wanted: CelType, given: CelType, bound: Bindings) -> bool:
    """Whether a value of one type may be where another is wanted; binds variables."""
    if wanted.variable:
        return _bind(wanted, given, bound)
    if wanted.unknown or given.unknown or given.variable:
        return True
    if "null" in (wanted.name, given.name):
        other = wanted if given.name == "null" else given
        return other.name == "null" or _nullable(other)
    if wanted.name != given.name or len(wanted.params) != len(given.params):
        return False
    return all(
        assignable(one, other, bound)
        for one, other in zip(wanted.params, given.params, strict=True)
    )


def joined(one: CelType, other: CelType) -> CelType:
    """The type of something that is one or the other."""
    if one.unknown or other.unknown or not assignable(one, other, {}):
        return ANY
    return one


def _bind(variable: CelType, given: CelType, bound: Bindings) -> bool:
    known = bound.get(variable.name)
    if known is None:
        bound[variable.name] = given
        return True
    if not assignable(known, given, bound):
        return False
    if _vague(known):
        bound[variable.name] = given
    return True


def _vague(known: CelType) -> bool:
    return known.unknown or any(map(_vague, known.params))


def _nullable(other: CelType) -> bool:
    """Objects, times and opaque values may be null; numbers, texts, lists and maps may not."""
    return other.name not in _SCALARS and other.name not in (LIST, MAP)
