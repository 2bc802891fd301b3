"""Whether applying something would change nothing, judged by what the server told. Pure.

The server writes down for each field manager which fields it applied (fieldsV1). If those are the
fields of a body, no more and no fewer, and each has the value that the body gives it, then applying
that body is idle. A field that somebody else has changed is not among ours any more; one that we
apply no longer still is; a new value differs. Any doubt means that the body is to be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quintant.api.quantity import parse_quantity
from quintant.core.codec import BROKEN, to_plain
from quintant.core.object import Object

Json = Mapping[str, Any]
Key = tuple[Any, ...]

# What identifies an object is applied with every body, and owned by nobody.
_IDENTITY = ("apiVersion", "kind")
_NAMES = ("name", "namespace", "uid")
# Below these the server writes amounts in its own way: 1000m as 1.
_AMOUNTS = ("requests", "limits", "sizeLimit")
_SELF = "."


def is_applied(fields: bytes, live: Object, body: bytes) -> bool:
    """Whether `body`, of a manager that owns `fields` of `live`, is there already."""
    try:
        return _same(msgspec.json.decode(fields), to_plain(live), _authored(body))
    except (*BROKEN, AttributeError, TypeError, ValueError):
        # No field set, amount or key as we know them: the server shall say.
        return False


def _authored(body: bytes) -> dict[str, Any]:
    plain = {k: v for k, v in msgspec.json.decode(body).items() if k not in _IDENTITY}
    meta = {k: v for k, v in plain.pop("metadata", {}).items() if k not in _NAMES}
    return {**plain, "metadata": meta} if meta else plain


def _same(owned: Json, live: Any, want: Any, amount: bool = False) -> bool:
    parts = {key: part for key, part in owned.items() if key != _SELF}
    if not parts:
        return _equal(live, want, amount)
    if isinstance(want, dict) and isinstance(live, dict):
        return _same_fields(parts, live, want, amount)
    if isinstance(want, list) and isinstance(live, list):
        return _same_values(parts, live, want) or _same_items(parts, live, want)
    return False


def _same_fields(parts: Json, live: Json, want: Json, amount: bool) -> bool:
    return parts.keys() == {f"f:{name}" for name in want} and all(
        _same(parts[f"f:{name}"], live.get(name), value, amount or name in _AMOUNTS)
        for name, value in want.items()
    )


def _same_values(parts: Json, live: list[Any], want: list[Any]) -> bool:
    """Of a set, whose members are told apart by their values."""
    members = [msgspec.json.decode(key[2:]) for key in parts if key.startswith("v:")]
    if len(members) != len(parts) or len(members) != len(want):
        return False
    return all(member in members and member in live for member in want)


def _same_items(parts: Json, live: list[Any], want: list[Any]) -> bool:
    """Of a list, whose members are told apart by some of their fields; their order counts."""
    keys = [(msgspec.json.decode(key[2:]), part) for key, part in parts.items() if key[:2] == "k:"]
    if len(keys) != len(parts) or len(keys) != len(want):
        return False
    names = tuple(keys[0][0])
    mine = {_key(key, names): part for key, part in keys}
    there = {_key(item, names): at for at, item in enumerate(live)}
    pairs = [(_known(_key(item, names), mine), item) for item in want]
    positions = [there.get(key, -1) for key, _ in pairs]
    if len(set(positions)) != len(want) or positions != sorted(positions) or positions[0] < 0:
        return False
    return all(
        _same(mine[key], live[at], item) for at, (key, item) in zip(positions, pairs, strict=True)
    )


def _key(item: Json, names: Key) -> Key:
    return tuple(item.get(name) for name in names)


def _known(key: Key, known: Mapping[Key, Any]) -> Key:
    """A key with what its author left to the server's defaults, as the protocol of a port is."""
    if None not in key:
        return key
    fits = [
        full
        for full in known
        if all(part in (None, whole) for part, whole in zip(key, full, strict=True))
    ]
    return fits[0] if len(fits) == 1 else key


def _equal(live: Any, want: Any, amount: bool) -> bool:
    if amount and isinstance(want, str | int) and isinstance(live, str | int):
        return parse_quantity(live) == parse_quantity(want)
    # What is empty the server takes, and does not store.
    return bool(live == want or (live is None and not want))
