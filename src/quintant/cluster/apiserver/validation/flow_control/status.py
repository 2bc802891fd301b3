"""ValidateFlowSchemaStatus: the conditions of schemas and of priority levels."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.meta.field_errors import duplicate, required
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.errors import Cause


def condition_causes(obj: JsonObject) -> Iterator[Cause]:
    """What is wrong with the conditions of an object."""
    known: set[str] = set()
    for at, condition in enumerate((obj.get("status") or {}).get("conditions") or ()):
        path, name = f"status.conditions[{at}].type", condition.get("type") or ""
        if name in known:
            yield duplicate(path, name)
        known.add(name)
        if not name:
            yield required(path)
