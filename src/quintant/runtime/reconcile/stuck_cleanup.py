"""Saying that a cleanup is stuck, where the user looks: an event, and a condition if there is room.

An object that waits for its finalizer looks like a hanging `kubectl delete`. After
`BLOCKED_SECONDS` of failing, the object itself says why, and how to let it go; one that does not
fit its type, and so cannot be cleaned up at all, says it at once.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Final, get_args, get_origin

from quintant.api.meta import ObjectReference
from quintant.client.rest import APPLY, MERGE, Patch, object_path
from quintant.client.transport import ApiRequest
from quintant.core import codec
from quintant.core.clock import Clock, monotonic, parse_timestamp, timestamp
from quintant.core.errors import Invalid, QuintantError, Terminal, leaf_errors
from quintant.core.object import Custom, Object, ObjectMeta, Request
from quintant.core.resource import resource_of
from quintant.runtime.cache.apply_cache import status_body
from quintant.runtime.cache.client import Client
from quintant.runtime.observe import logs
from quintant.runtime.reconcile.context import Recorder
from quintant.runtime.reconcile.finalizer import BLOCKED, BLOCKED_SECONDS, RELEASE

log: Final = logs.get_logger()

UNFIT = "DoesNotFitItsType"
_SetCondition = Callable[[type[Object], ObjectMeta, str], Awaitable[None]]

# A report is worth this much of a worker's time.
REPORT_SECONDS = 10.0


class StuckCleanups:
    """What a controller has reported of objects that it cannot release.

    Each object is reported every BLOCKED_SECONDS at most: the report is a change that wakes the
    controller, and a cleanup that fails with another text each time would never rest.
    """

    def __init__(self, client: Client, recorder: Recorder, clock: Clock) -> None:
        self._client, self._recorder, self._clock = client, recorder, clock
        self._reported_at: dict[Request, float] = {}
        self._unwritten: set[Request] = set()
        """Objects whose condition could not be written yet."""
        self._blocked: set[Request] = set()

    def __len__(self) -> int:
        """How many objects are held and cannot be cleaned up."""
        return len(self._blocked)

    async def report_failure(self, kind: type[Object], meta: ObjectMeta, error: Exception) -> None:
        """Report a failing cleanup once it has lasted, or cannot succeed; never raises."""
        if self._lasting(meta, error):
            why = f"cleanup keeps failing: {type(error).__name__}: {error}"
            await self._report(kind, meta, why, partial(self._apply, reason="CleanupFailed"))

    async def report_unfit(self, kind: type[Object], meta: ObjectMeta, why: str) -> bool:
        """Report an object that is held because it does not fit its type; never raises.

        False if not all of it could be said: nothing else would have it said again.
        """
        note = f"it does not fit its type, and is held until it does: {why}"
        return await self._report(kind, meta, note, partial(self._merge, reason=UNFIT))

    def recovered(self, key: Request) -> None:
        """A cleanup did not fail this time, though it may not be over."""
        self._blocked.discard(key)

    def forget(self, key: Request) -> None:
        """The object is gone, or released."""
        self._reported_at.pop(key, None)
        self._unwritten.discard(key)
        self._blocked.discard(key)

    async def _report(
        self, kind: type[Object], meta: ObjectMeta, why: str, set_condition: _SetCondition
    ) -> bool:
        key = Request(meta.name, meta.namespace)
        self._blocked.add(key)
        note = f"{why}; annotate {RELEASE}=true to let go without cleanup"
        if monotonic() - self._reported_at.get(key, -math.inf) >= BLOCKED_SECONDS:
            self._reported_at[key] = monotonic()
            self._recorder.event(reference(kind, meta), "Warning", BLOCKED, note, action="Cleanup")
            if has_conditions(kind):
                self._unwritten.add(key)
        if key in self._unwritten and await self._written(set_condition(kind, meta, note)):
            self._unwritten.discard(key)
        return key not in self._unwritten

    async def _written(self, writing: Awaitable[None]) -> bool:
        """Whether a condition is written, or can never be."""
        try:
            async with asyncio.timeout(REPORT_SECONDS):
                await writing
        except (QuintantError, TimeoutError) as failure:
            log.warning("could not write the condition", why=str(failure))
            return isinstance(failure, Invalid)
        return True

    def _lasting(self, meta: ObjectMeta, error: Exception) -> bool:
        since = meta.deletion_timestamp
        if since is None:
            return False
        age = self._clock.now() - parse_timestamp(since)
        pointless = all(isinstance(leaf, Terminal) for leaf in leaf_errors(error))
        return pointless or age >= timedelta(seconds=BLOCKED_SECONDS)

    async def _apply(self, kind: type[Object], meta: ObjectMeta, note: str, reason: str) -> None:
        body = status_body(kind, meta, {"conditions": [_condition(meta, reason, note)]})
        await self._write(kind, meta, Patch(APPLY, body, idempotent=True), {"force": "true"})

    async def _merge(self, kind: type[Object], meta: ObjectMeta, note: str, reason: str) -> None:
        # An object that its schema does not allow cannot be applied to: the server types it first.
        path = object_path(resource_of(kind), Request(meta.name, meta.namespace))
        reply = await self._client.rest.send(ApiRequest("GET", path))
        live = codec.decode_reply(reply.body)
        # Its schema does not allow it: nothing of it is known to be of its type.
        status = live.get("status")
        held = status.get("conditions") if isinstance(status, dict) else None
        known = [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []
        others = [each for each in known if each.get("type") != BLOCKED]
        change = {
            "metadata": {"resourceVersion": live["metadata"]["resourceVersion"]},
            "status": {"conditions": [*others, _condition(meta, reason, note)]},
        }
        await self._write(kind, meta, Patch(MERGE, codec.encode(change), idempotent=True), {})

    async def _write(
        self, kind: type[Object], meta: ObjectMeta, patch: Patch, query: Mapping[str, str]
    ) -> None:
        # A manager of its own: the controller's next status must not take the condition away.
        query = {"fieldManager": f"{self._client.manager}-cleanup", **query}
        key = Request(meta.name, meta.namespace)
        await self._client.rest.patch(kind, key, patch, sub="status", query=query)


def _condition(meta: ObjectMeta, reason: str, note: str) -> dict[str, str]:
    assert meta.deletion_timestamp is not None, "only what is going is held"
    since = timestamp(parse_timestamp(meta.deletion_timestamp))
    return {
        "type": BLOCKED,
        "status": "True",
        "reason": reason,
        "message": note,
        "lastTransitionTime": since,
    }


def reference(kind: type[Object], meta: ObjectMeta) -> ObjectReference:
    """An object for events, by its metadata alone."""
    resource = resource_of(kind)
    return ObjectReference(
        api_version=resource.api_version,
        kind=resource.kind,
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )


def has_conditions(kind: type[Object]) -> bool:
    """Whether the status of a kind has conditions that are merged by type."""
    status = _status_type(kind)
    hint = codec.declared_hints(status).get("conditions") if status is not None else None
    metas = getattr(hint, "__metadata__", ())
    merged = [getattr(meta, "extra_json_schema", None) or {} for meta in metas]
    return any(schema.get("x-kubernetes-list-type") == "map" for schema in merged)


def _status_type(kind: type[Object]) -> type | None:
    for base in getattr(kind, "__orig_bases__", ()):
        if get_origin(base) is Custom:
            status: type = get_args(base)[1]
            return status
    return None
