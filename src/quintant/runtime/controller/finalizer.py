"""Holding an object until its traces are gone: the finalizer's side of a reconcile.

The finalizer is added in a write of its own before any side effect, and removed after cleanup.
Both are JSON patches guarded by a test, because a merge patch would replace the whole list and
with it what others put there. Only our own name is ever touched.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import Any, Generic

from msgspec import Struct

from quintant.core.enums import fast_members
from quintant.core.errors import Conflict, Invalid, NotFound, Status
from quintant.core.object import K, Object, ObjectMeta
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

RELEASE = "quintant.dev/release"
"""Set to "true" on an object that cannot be cleaned up: it is let go without cleanup."""

BLOCKED = "CleanupBlocked"
# An object that has been going for so long, and still fails, is said to be blocked.
BLOCKED_SECONDS = 30.0

Cleanup = Callable[[K, Context[K]], Awaitable[Result | None]]


class Finalizer(Struct, Generic[K], frozen=True):
    """A name on the object, and what to do before it may be removed."""

    name: str
    cleanup: Cleanup[K]


@fast_members
class ReconcileStep(Enum):
    """What an object needs now."""

    ADD_FINALIZER = auto()
    """It lives and is not held yet."""
    RECONCILE = auto()
    """It lives, and is held if it has to be."""
    CLEAN_UP = auto()
    """It is going, and we hold it."""
    REMOVE_FINALIZER = auto()
    """It is going, we hold it, and somebody asked to let go without cleanup."""
    IGNORE = auto()
    """It is going and not ours to hold."""


def next_step(meta: ObjectMeta, name: str | None) -> ReconcileStep:
    """Decide from metadata alone what comes next; `name` is our finalizer, if there is one."""
    held = name is not None and name in meta.finalizers
    if meta.deletion_timestamp is None:
        return ReconcileStep.RECONCILE if name is None or held else ReconcileStep.ADD_FINALIZER
    if not held:
        return ReconcileStep.IGNORE
    return ReconcileStep.REMOVE_FINALIZER if is_released(meta) else ReconcileStep.CLEAN_UP


def is_released(meta: ObjectMeta) -> bool:
    """Whether somebody asked to let the object go without cleanup."""
    return meta.annotations.get(RELEASE) == "true"


def add_patch(meta: ObjectMeta, name: str) -> Sequence[Mapping[str, Any]]:
    """The JSON patch that puts our finalizer on, if nothing changed since we looked."""
    guard = {"op": "test", "path": "/metadata/resourceVersion", "value": meta.resource_version}
    if meta.finalizers:
        return [guard, {"op": "add", "path": "/metadata/finalizers/-", "value": name}]
    return [guard, {"op": "add", "path": "/metadata/finalizers", "value": [name]}]


def remove_patch(meta: ObjectMeta, name: str) -> Sequence[Mapping[str, Any]]:
    """The JSON patch that takes our finalizer off this very object, if it is where we saw it."""
    path = f"/metadata/finalizers/{meta.finalizers.index(name)}"
    return [
        # A namesake that was made meanwhile is not ours to let go.
        {"op": "test", "path": "/metadata/uid", "value": meta.uid},
        {"op": "test", "path": path, "value": name},
        {"op": "remove", "path": path},
    ]


async def add_finalizer(client: Client, obj: Object, name: str) -> None:
    """Put our finalizer on; Conflict when the object changed meanwhile, NotFound if it is gone."""
    await _amend(client, type(obj), obj.metadata, add_patch(obj.metadata, name))


async def remove_finalizer(client: Client, kind: type[Object], meta: ObjectMeta, name: str) -> None:
    """Take our finalizer off; no error when the object is gone already."""
    with suppress(NotFound):
        await _amend(client, kind, meta, remove_patch(meta, name))


async def _amend(
    client: Client,
    kind: type[Object],
    meta: ObjectMeta,
    operations: Sequence[Mapping[str, Any]],
) -> None:
    try:
        await client.json_patch(kind, meta, operations)
    except Invalid as error:
        # A failed test operation is answered with 422; to us it is a conflict like any other.
        status = Status(code=409, reason="Conflict", message=error.message)
        raise Conflict(status, error.request) from error
