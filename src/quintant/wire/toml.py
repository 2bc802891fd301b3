"""TOML written from plain data, and tables laid over tables: what an operator and its agent share.

Reading is the standard library's (`tomllib`). Keys are sorted, plain values come before tables, so
the same data is always the same text. `merge` replaces values and lists, and goes into tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from functools import lru_cache
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SPECIAL = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPES = {
    "\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r",
}  # fmt: skip

Table = Mapping[str, Any]


def dumps(data: Table) -> str:
    """The text of a document; TypeError for a value that TOML has no word for."""
    return "\n".join(_table(data, ())) + "\n" if data else ""


def merge(below: Table, above: Table) -> dict[str, Any]:
    """A table with another laid over it: what both have is the upper one's, tables are merged."""
    merged = dict(below)
    for key, value in above.items():
        known = merged.get(key)
        both = isinstance(known, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(known, value) if both and known is not None else value
    return merged


def _table(data: Table, path: tuple[str, ...]) -> Iterator[str]:
    plain, inner = list[str](), list[str]()
    for key in sorted(data):
        (inner if _apart(data[key]) else plain).append(key)
    if path and (plain or not inner):
        yield f"[{_joined(path)}]"
    for key in plain:
        yield f"{_key(key)} = {_value(data[key])}"
    for key in inner:
        if isinstance(data[key], Mapping):
            yield from _table(data[key], (*path, key))
        else:
            yield from _tables(data[key], (*path, key))


def _tables(items: Sequence[Table], path: tuple[str, ...]) -> Iterator[str]:
    for item in items:
        yield f"[[{_joined(path)}]]"
        for key in sorted(item):
            # Below an array every table is written in one line: its header would be ambiguous.
            yield f"{_key(key)} = {_value(item[key])}"


def _apart(value: Any) -> bool:
    """Whether a value has a section of its own."""
    if isinstance(value, str | int | float):  # most are, and what is abstract is slow to ask for
        return False
    if isinstance(value, Mapping):
        return True
    listed = isinstance(value, Sequence) and not isinstance(value, bytes)
    return listed and bool(value) and all(isinstance(each, Mapping) for each in value)


def _joined(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


@lru_cache(1024)  # the same few are written again and again
def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case int():
            return str(value)
        case float():
            return _number(value)
        case datetime() | date() | time():
            return value.isoformat()
        case Mapping():
            pairs = (f"{_key(key)} = {_value(value[key])}" for key in sorted(value))
            return "{" + ", ".join(pairs) + "}"
        case Sequence() if not isinstance(value, bytes):
            return "[" + ", ".join(map(_value, value)) + "]"
    raise TypeError(f"TOML has no word for {type(value).__name__}")


def _number(value: float) -> str:
    if math.isnan(value):
        return "nan"
    return repr(value) if math.isfinite(value) else "inf" if value > 0 else "-inf"


def _text(value: str) -> str:
    if _SPECIAL.search(value) is None:
        return f'"{value}"'
    return '"' + "".join(map(_character, value)) + '"'


def _character(each: str) -> str:
    if each in _ESCAPES:
        return _ESCAPES[each]
    code = ord(each)
    return each if code >= 0x20 and code != 0x7F else f"\\u{code:04x}"
