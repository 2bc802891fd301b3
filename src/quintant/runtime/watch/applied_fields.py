"""Whether applying something would change nothing, judged by what the server reported. Pure.

The server writes down for each field manager which fields it applied (fieldsV1). If those are the
fields of a body, no more and no fewer, and each has the value that the body gives it, then applying
that body is idle. A field that another manager has changed is not among ours any more; one that we
apply no longer still is; a new value differs. Any doubt means that the body is to be sent.

Field sets are compiled, since thousands of children have the same one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from quintant.api.quantity import parse_quantity
from quintant.core import codec
from quintant.core.object import Object

Key = tuple[Any, ...]

# What identifies an object is applied with every body, and owned by no manager.
_IDENTITY = ("apiVersion", "kind")
_NAMES = ("name", "namespace", "uid")
# Below these the server writes amounts in its own way: 1000m as 1.
_AMOUNTS = ("requests", "limits", "sizeLimit")
# Stands for an owner's uid; it begins with a character for private use.
_OWNER = b"\xee\x80\x80%d"
# Compiled field sets that are kept: programs have about as many as they have kinds of children.
COMPILED = 1_000


class _Whole(Struct, frozen=True):
    """A value that is owned as it is."""

    amount: bool

    def same(self, live: Any, want: Any) -> bool:
        if self.amount and isinstance(want, str | int) and isinstance(live, str | int):
            return parse_quantity(live) == parse_quantity(want)
        # What is empty the server takes, and does not store.
        return bool(live == want or (live is None and not want))


class _Fields(Struct, frozen=True):
    """Some fields of an object or a map."""

    parts: Mapping[str, _Owned]

    def same(self, live: Any, want: Any) -> bool:
        if not (isinstance(live, dict) and isinstance(want, dict)):
            return False
        parts = self.parts
        return parts.keys() == want.keys() and all(
            parts[name].same(live.get(name), value) for name, value in want.items()
        )


class _Values(Struct, frozen=True):
    """Some members of a set, identified by their values."""

    members: tuple[Any, ...]

    def same(self, live: Any, want: Any) -> bool:
        if not (isinstance(live, list) and isinstance(want, list)):
            return False
        return len(self.members) == len(want) and all(
            member in want and member in live for member in self.members
        )


class _Items(Struct, frozen=True):
    """Some members of a list, identified by some of their fields; their order counts."""

    names: tuple[str, ...]
    parts: Mapping[Key, _Owned]

    def same(self, live: Any, want: Any) -> bool:
        if not (isinstance(live, list) and isinstance(want, list)):
            return False
        there = {self._key(item): at for at, item in enumerate(live)}
        given = [self._key(item) for item in want]
        keys = [self._complete(key, given) for key in given]
        at = [there.get(key, -1) for key in keys]
        if len(want) != len(self.parts) or len(set(at)) != len(at) or at != sorted(at) or at[0] < 0:
            return False
        return all(
            self.parts[key].same(live[index], item)
            for key, index, item in zip(keys, at, want, strict=True)
        )

    def _key(self, item: Any) -> Key:
        return tuple(item.get(name) for name in self.names)

    def _complete(self, key: Key, given: Collection[Key]) -> Key:
        """A key with what its author left to the server's defaults, as the protocol of a port.

        What another of those `given` says in full is not meant by it.
        """
        if None not in key:
            return key
        fits = [
            known
            for known in self.parts
            if known not in given
            and all(part in (None, whole) for part, whole in zip(key, known, strict=True))
        ]
        return fits[0] if len(fits) == 1 else key


_Owned = _Whole | _Fields | _Values | _Items


def is_applied(fields: bytes, live: Object, body: bytes) -> bool:
    """Whether `body`, of a manager that owns `fields` of `live`, is there already.

    The field set may be one that children share (`share_fields`).
    """
    try:
        there = share_fields(codec.encode(live), live)
        return _compiled(fields).same(
            msgspec.json.decode(there), _authored(share_fields(body, live))
        )
    except (*codec.BROKEN, AttributeError, KeyError, TypeError, ValueError):
        # No field set, amount or key as we know them: the server shall say.
        return False


def share_fields(fields: bytes, obj: Object) -> bytes:
    """A field set, or anything else about an object, that is the same whoever its owners are.

    Owners are told apart by uid, and the place among an object's own owners says as much.
    """
    for at, owner in enumerate(obj.metadata.owner_references):
        if owner.uid:
            fields = fields.replace(owner.uid.encode(), _OWNER % at)
    return fields


def _authored(body: bytes) -> dict[str, Any]:
    plain = msgspec.json.decode(body)
    for name in _IDENTITY:
        plain.pop(name, None)
    meta = plain.get("metadata", {})
    for name in _NAMES:
        meta.pop(name, None)
    if not meta:
        plain.pop("metadata", None)
    return dict(plain)


@lru_cache(COMPILED)
def _compiled(fields: bytes) -> _Owned:
    return _compile(msgspec.json.decode(fields), amount=False)


def _compile(owned: Mapping[str, Any], *, amount: bool) -> _Owned:
    parts = {key: part for key, part in owned.items() if key != "."}
    kinds = {key[:2] for key in parts}
    if not parts:
        return _Whole(amount)
    if kinds == {"f:"}:
        return _Fields(
            {
                key[2:]: _compile(part, amount=amount or key[2:] in _AMOUNTS)
                for key, part in parts.items()
            }
        )
    if kinds == {"v:"}:
        return _Values(tuple(msgspec.json.decode(key[2:]) for key in parts))
    if kinds != {"k:"}:
        raise ValueError(f"a field set with {sorted(kinds)}")
    keyed = [(msgspec.json.decode(key[2:]), part) for key, part in parts.items()]
    names = tuple(keyed[0][0])
    compiled = {
        tuple(key[name] for name in names): _compile(part, amount=False) for key, part in keyed
    }
    return _Items(names, compiled)
