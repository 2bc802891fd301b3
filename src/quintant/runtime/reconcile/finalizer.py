"""Finalizers of a reconcile: added before its effects, finalizer removal after its cleanup.

The finalizer is added in a write of its own before any side effect, and removed after cleanup.
Both are JSON patches guarded by tests, because a merge patch would replace the whole list and
with it what others put there. Only our own names are ever touched.
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
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

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
    when: Callable[[K], bool] | None = None
    """Which objects are held while they live; None means all."""
    also: tuple[str, ...] = ()
    """Names that earlier versions used: they count as ours, and go with it."""
    leaves: Callable[[K], str] | None = None
    """What stays outside the cluster when an object is let go without cleanup, in words."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that is ours, the one that is put on first."""
        return (self.name, *self.also)

    def wants(self, obj: K) -> bool:
        """Whether a living object is to be held."""
        return self.when is None or self.when(obj)


@fast_members
class ReconcileStep(Enum):
    """What an object needs now."""

    ADD_FINALIZER = auto()
    """It lives and is not held yet, or under an old name."""
    DROP_FINALIZER = auto()
    """It lives, is held, and need not be any more."""
    RECONCILE = auto()
    """It lives, and is held if it has to be."""
    CLEAN_UP = auto()
    """It is going, and we hold it."""
    RELEASE = auto()
    """It is going, we hold it, and somebody asked to let go without cleanup."""
    IGNORE = auto()
    """It is going and not ours to hold."""


def next_step(meta: ObjectMeta, names: Sequence[str], wanted: bool = True) -> ReconcileStep:
    """Decide from metadata what comes next.

    `names` are those of our finalizer, the current one first; none if there is no finalizer.
    `wanted` says whether a living object is to be held; once it is going, cleanup alone decides.
    """
    if not names:
        living = meta.deletion_timestamp is None
        return ReconcileStep.RECONCILE if living else ReconcileStep.IGNORE
    held = [name for name in names if name in meta.finalizers]
    if meta.deletion_timestamp is None:
        if held == list(names[:1] if wanted else ()):
            return ReconcileStep.RECONCILE
        return ReconcileStep.ADD_FINALIZER if wanted else ReconcileStep.DROP_FINALIZER
    if not held:
        return ReconcileStep.IGNORE
    return ReconcileStep.RELEASE if is_released(meta) else ReconcileStep.CLEAN_UP


def is_released(meta: ObjectMeta) -> bool:
    """Whether somebody asked to let the object go without cleanup."""
    return meta.annotations.get(RELEASE) == "true"


def set_patch(meta: ObjectMeta, names: Sequence[str], wanted: bool) -> Sequence[Mapping[str, Any]]:
    """The JSON patch that puts a living object's finalizers right, if nothing changed since.

    The first of `names` is on it afterwards if it is wanted, and no other of them.
    """
    others = [name for name in meta.finalizers if name not in names]
    return [
        {"op": "test", "path": "/metadata/resourceVersion", "value": meta.resource_version},
        {
            "op": "add",
            "path": "/metadata/finalizers",
            "value": [*others, *(names[:1] if wanted else ())],
        },
    ]


def remove_patch(meta: ObjectMeta, *names: str) -> Sequence[Mapping[str, Any]]:
    """The JSON patch that takes our finalizers off this very object, if they are where we saw them.

    It is not bound to a version: others may write to an object that goes.
    """
    ours = [index for index, name in enumerate(meta.finalizers) if name in names]
    paths = [(f"/metadata/finalizers/{index}", meta.finalizers[index]) for index in ours]
    return [
        # A namesake that was made meanwhile is not ours to let go.
        {"op": "test", "path": "/metadata/uid", "value": meta.uid},
        *({"op": "test", "path": path, "value": name} for path, name in paths),
        # From the last: each removal moves those behind it.
        *({"op": "remove", "path": path} for path, _ in reversed(paths)),
    ]


async def add_finalizer(client: Client, obj: Object, *names: str) -> None:
    """Put the first of our names on a living object, and take the others off.

    Conflict when the object changed meanwhile, NotFound if it is gone.
    """
    await _amend(client, type(obj), obj.metadata, set_patch(obj.metadata, names, wanted=True))


async def drop_finalizer(client: Client, obj: Object, *names: str) -> None:
    """Take our names off a living object that need not be held; Conflict when it changed."""
    with suppress(NotFound):
        await _amend(client, type(obj), obj.metadata, set_patch(obj.metadata, names, wanted=False))


async def remove_finalizer(
    client: Client, kind: type[Object], meta: ObjectMeta, *names: str
) -> None:
    """Take our finalizers off; no error when the object is gone already."""
    with suppress(NotFound):
        await _amend(client, kind, meta, remove_patch(meta, *names))


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
