"""Saying that a cleanup is stuck, where the user looks: an event, and a condition if there is room.

An object that waits for its finalizer looks like a hanging `kubectl delete`. After
`BLOCKED_SECONDS` of failing, the object itself says why, and how to let it go.
"""

from __future__ import annotations

import asyncio
import math
from datetime import timedelta
from typing import Any, get_args, get_origin

from quintant.client.rest import APPLY, Patch
from quintant.core import codec
from quintant.core.clock import monotonic, parse_timestamp, timestamp
from quintant.core.errors import QuintantError, Terminal, leaf_errors
from quintant.core.object import Custom, Object, Request
from quintant.runtime.cache.apply_cache import status_body
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.finalizer import BLOCKED, BLOCKED_SECONDS, RELEASE

# A report is worth this much of a worker's time.
REPORT_SECONDS = 10.0


class StuckCleanups:
    """What a controller has told of its failing cleanups.

    Each object is reported every BLOCKED_SECONDS at most: the report is a change that wakes the
    controller, and a cleanup that fails with another text each time would never rest.
    """

    def __init__(self) -> None:
        self._told: dict[Request, float] = {}

    async def report(self, ctx: Context[Any], error: Exception) -> None:
        """Report a failing cleanup once it has lasted, or cannot succeed; never raises."""
        if not _lasting(ctx, error) or not self._due(ctx.request):
            return
        self._told[ctx.request] = monotonic()
        why = f"{type(error).__name__}: {error}"
        note = f"cleanup keeps failing: {why}; annotate {RELEASE}=true to let go"
        ctx.event(BLOCKED, note, type="Warning", action="Cleanup")
        if has_conditions(type(ctx.obj)):
            try:
                async with asyncio.timeout(REPORT_SECONDS):
                    await _set_condition(ctx, note)
            except (QuintantError, TimeoutError) as failure:
                ctx.log.warning("could not write the condition", why=str(failure))

    def forget(self, key: Request) -> None:
        """The object is gone."""
        self._told.pop(key, None)

    def _due(self, key: Request) -> bool:
        return monotonic() - self._told.get(key, -math.inf) >= BLOCKED_SECONDS


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


def _lasting(ctx: Context[Any], error: Exception) -> bool:
    since = ctx.obj.metadata.deletion_timestamp
    if since is None:
        return False
    age = ctx.clock.now() - parse_timestamp(since)
    pointless = all(isinstance(leaf, Terminal) for leaf in leaf_errors(error))
    return pointless or age >= timedelta(seconds=BLOCKED_SECONDS)


async def _set_condition(ctx: Context[Any], note: str) -> None:
    condition = {
        "type": BLOCKED,
        "status": "True",
        "reason": "CleanupFailed",
        "message": note,
        "lastTransitionTime": timestamp(parse_timestamp(ctx.obj.metadata.deletion_timestamp)),
    }
    body = status_body(ctx.obj, {"conditions": [condition]})
    # A manager of its own: the controller's next status must not take the condition away.
    query = {"fieldManager": f"{ctx.client.manager}-cleanup", "force": "true"}
    patch = Patch(APPLY, body, idempotent=True)
    ctx.client.fence()
    await ctx.client.rest.patch(type(ctx.obj), ctx.request, patch, sub="status", query=query)
