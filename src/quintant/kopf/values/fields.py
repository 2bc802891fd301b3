"""Paths into nested mappings: `spec.size`, or a tuple of keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from copy import deepcopy
from typing import Any, TypeVar

FieldPath = tuple[str, ...]
T = TypeVar("T")
_FLAT = frozenset({str, int, float, bool, type(None)})
FieldSpec = str | Iterable[str] | None


class _Missing:
    def __repr__(self) -> str:
        return "<missing>"


MISSING = _Missing()
"""What stands for a field that is not there, where None is a value."""


def parse_field(field: FieldSpec) -> FieldPath:
    """The path that a field means; an empty one means the whole."""
    if field is None or field == "":
        return ()
    if isinstance(field, str):
        return tuple(field.split("."))
    if isinstance(field, Iterable):
        return tuple(field)
    raise ValueError(f"a field is a text with dots or a list of keys, not {field!r}")


def resolve(value: Any, path: FieldPath, default: Any = None) -> Any:
    """What is at a path; the default where there is nothing, or no mapping on the way."""
    for key in path:
        if type(value) is not dict and not isinstance(value, Mapping):
            return default
        if key not in value:
            return default
        value = value[key]
    return value


def copied(value: T) -> T:
    """A copy of what came as JSON, of which nothing is shared; quicker than `deepcopy`."""
    return _copied(value)  # type: ignore[no-any-return]


def _copied(value: Any) -> Any:
    if type(value) is dict:
        return {key: _copied(each) for key, each in value.items()}
    if type(value) is list:
        return [_copied(each) for each in value]
    return value if type(value) in _FLAT else deepcopy(value)


def ensure(target: MutableMapping[str, Any], path: FieldPath, value: Any) -> None:
    """Put a value at a path, with the mappings that lead there."""
    for key in path[:-1]:
        inner = target.get(key)
        if not isinstance(inner, MutableMapping):
            inner = target[key] = {}
        target = inner
    target[path[-1]] = value


def remove(target: MutableMapping[str, Any], path: FieldPath) -> None:
    """Take a path away, and what is empty then on the way to it."""
    key, rest = path[0], path[1:]
    if key not in target:
        return
    if not rest:
        del target[key]
        return
    inner = target[key]
    if isinstance(inner, MutableMapping):
        remove(inner, rest)
        if not inner:
            del target[key]


def walk(objs: Any) -> Iterator[Any]:
    """The objects of one, of a list of them, or of lists of lists; wrappers give what is inside."""
    inner = getattr(objs, "obj", None)
    if objs is None:
        return
    if isinstance(inner, MutableMapping) and not isinstance(objs, Mapping):
        yield inner  # a wrapper, as client libraries have them
    elif isinstance(objs, Mapping) or not isinstance(objs, Iterable):
        yield objs
    else:
        for each in objs:
            yield from walk(each)
