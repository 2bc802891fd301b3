"""The numbers behind a custom resource's scale: whole, not negative, and where they are said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quintant.cluster.apiserver.golang.printing import plain
from quintant.cluster.apiserver.meta.field_errors import invalid
from quintant.core.errors import Cause
from quintant.core.resource import Scale

MAX_REPLICAS = 2**31 - 1
_GO = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
    type(None): "<nil>",
}
_ZEROS: dict[type, Any] = {int: 0, str: ""}


def validate_replicas(obj: Any, scale: Scale, *, status_only: bool = False) -> Iterator[Cause]:
    """What is wrong with the replicas and the selector that a scale shows."""
    if not status_only:
        yield from _count(obj, scale.replicas)
    yield from _count(obj, scale.status_replicas)
    if scale.selector:
        yield from _misfit(obj, scale.selector, str)


def _count(obj: Any, path: str) -> Iterator[Cause]:
    misfits = list(_misfit(obj, path, int))
    yield from misfits
    found = 0 if misfits else _found(obj, path) or 0
    if found < 0:
        yield invalid(path, found, "should be a non-negative integer")
    elif found > MAX_REPLICAS:
        yield invalid(path, found, f"should be less than or equal to {MAX_REPLICAS}")


def _misfit(obj: Any, path: str, wanted: type) -> Iterator[Cause]:
    """A complaint unless there is nothing at a path, or something of a type."""
    parts = path.strip(".").split(".")
    for depth, part in enumerate(parts):
        if obj is None:
            return
        if not isinstance(obj, dict):
            yield _unexpected(path, parts[: depth + 1], obj, wanted, "map[string]interface{}")
            return
        if part not in obj:
            return
        obj = obj[part]
    if type(obj) is not wanted:
        yield _unexpected(path, parts, obj, wanted, _GO[wanted])


def _unexpected(path: str, parts: list[str], found: Any, wanted: type, expected: str) -> Cause:
    what = f"{plain(found)} is of the type {_GO[type(found)]}, expected {expected}"
    return invalid(path, _ZEROS[wanted], f".{'.'.join(parts)} accessor error: {what}")


def _found(obj: Any, path: str) -> Any:
    for part in path.strip(".").split("."):
        obj = obj.get(part) if isinstance(obj, dict) else None
    return obj
