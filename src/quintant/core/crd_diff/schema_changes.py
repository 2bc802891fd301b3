"""Two schemas of one version, field by field.

Schemas come from files and may be deep: they are walked without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quintant.core.crd_diff.change import DefinitionChange, Schema, breaking, safe
from quintant.core.crd_diff.keywords import PRESERVE, keyword_changes

ITEMS, VALUES = "items", "additionalProperties"
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
    for name in sorted(gone):
        field = f"{path}.{name}"
        if kept:
            yield safe(field, "existingFieldRemoval", "it is kept without being described")
            continue
        hint = "".join(f"; perhaps it is {twin} now" for twin in _twins(name, old, new, added))
        yield breaking(field, "existingFieldRemoval", f"it is dropped from what is stored{hint}")
    for name in sorted(added):
        yield safe(f"{path}.{name}", "newField", "it is new")


def _twins(name: str, old: Schema, new: Schema, added: list[str]) -> list[str]:
    """New fields that are what a field was: it has perhaps another name."""
    before = _typed(_properties(old)[name])
    twins = [each for each in added if _typed(_properties(new)[each]) == before]
    return twins if len(twins) == 1 else []


def _typed(schema: Schema) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description"}


def _map_values(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = old.get(VALUES), new.get(VALUES)
    if before and not after and not new.get(PRESERVE):
        yield breaking(path, VALUES, "keys that the schema does not name are dropped")
    elif after and not before:
        yield safe(path, VALUES, "any key is allowed")


def _parts(path: str, old: Schema, new: Schema) -> Iterator[_Pair]:
    before, after = _properties(old), _properties(new)
    for name in sorted(before.keys() & after.keys()):
        yield f"{path}.{name}", before[name], after[name]
    for keyword, suffix in ((ITEMS, "[]"), (VALUES, ".*")):
        part, other = old.get(keyword), new.get(keyword)
        if isinstance(part, dict) and isinstance(other, dict):
            yield f"{path}{suffix}", part, other


def _properties(schema: Schema) -> dict[str, Schema]:
    return schema.get("properties") or {}
