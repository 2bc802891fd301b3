"""Two schemas of one version, field by field.

Schemas come from files and may be deep: they are walked without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from quintant.core.crd_diff.change import DefinitionChange, Schema, breaking, safe
from quintant.core.crd_diff.keywords import PRESERVE, keyword_changes

ITEMS, VALUES = "items", "additionalProperties"
ANY: Schema = {PRESERVE: True}
"""What `additionalProperties: true` says of each value."""
_Pair = tuple[str, Schema, Schema]


def schema_changes(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    """Every change below a field, in the order of the fields."""
    waiting: list[_Pair] = [(path, old, new)]
    while waiting:
        field, before, after = waiting.pop()
        yield from keyword_changes(field, before, after)
        yield from _fields(field, before, after)
        yield from _map_values(field, before, after)
        waiting += reversed([*_parts(field, before, after)])


def _fields(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = _properties(old), _properties(new)
    gone = [name for name in before if name not in after]
    added = [name for name in after if name not in before]
    kept = bool(new.get(PRESERVE)) or bool(new.get(VALUES))
    alike: dict[bytes, list[str]] = {}
    for name in added if gone else ():
        alike.setdefault(_typed(after[name]), []).append(name)
    for name in sorted(gone):
        field = f"{path}.{name}"
        if kept:
            yield safe(field, "existingFieldRemoval", "it is kept without being described")
            continue
        twins = alike.get(_typed(before[name]), [])
        hint = f"; perhaps it is {twins[0]} now" if len(twins) == 1 else ""
        yield breaking(field, "existingFieldRemoval", f"it is dropped from what is stored{hint}")
    for name in sorted(added):
        if old.get(PRESERVE) and not after[name].get(PRESERVE):
            message = "what is stored there was never looked at, and may be refused"
            yield breaking(f"{path}.{name}", "newField", message)
        else:
            yield safe(f"{path}.{name}", "newField", "it is new")


def _typed(schema: Schema) -> bytes:
    """What two fields have in common of which one is perhaps the other's new name."""
    plain = {key: value for key, value in schema.items() if key != "description"}
    return msgspec.json.encode(plain, order="deterministic")


def _map_values(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = old.get(VALUES), new.get(VALUES)
    if before and not after and not new.get(PRESERVE):
        yield breaking(path, VALUES, "keys that the schema does not name are dropped")
    elif after and not before and old.get(PRESERVE) and isinstance(after, dict):
        message = "what is stored below was never looked at, and may be refused"
        yield breaking(path, VALUES, message)
    elif after and not before:
        yield safe(path, VALUES, "any key is allowed")


def _parts(path: str, old: Schema, new: Schema) -> Iterator[_Pair]:
    before, after = _properties(old), _properties(new)
    values = new.get(VALUES)
    for name in sorted(before):
        # A field that is none any more is a key as any other.
        other = after.get(name, values)
        if isinstance(other, dict):
            yield f"{path}.{name}", before[name], other
    for keyword, suffix in ((ITEMS, "[]"), (VALUES, ".*")):
        part, other = old.get(keyword), new.get(keyword)
        if isinstance(other, dict) and (part is True or isinstance(part, dict)):
            yield f"{path}{suffix}", ANY if part is True else part, other


def _properties(schema: Schema) -> dict[str, Schema]:
    return schema.get("properties") or {}
