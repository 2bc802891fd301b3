"""Saying that a cleanup is stuck, where the user looks: an event, and a condition if there is room.

An object that waits for its finalizer looks like a hanging `kubectl delete`. After
`BLOCKED_SECONDS` of failing, the object itself says why, and how to let it go.
"""

from __future__ import annotations

from typing import Any, get_args, get_origin

from quintant.runtime import codec
from quintant.runtime.client.applied import status_body
from quintant.runtime.client.rest import APPLY, Patch
from quintant.runtime.clock import parse_timestamp, timestamp
from quintant.runtime.context import Context
from quintant.runtime.errors import ApiError, TransportError
from quintant.runtime.finalizer import BLOCKED, BLOCKED_SECONDS, RELEASE
from quintant.runtime.object import Custom, Object


async def report_blocked(ctx: Context[Any], error: Exception) -> None:
    """Report a failing cleanup once it has lasted; never raises anything of its own."""
    obj: Object = ctx.obj
    since = obj.metadata.deletion_timestamp
    if (
        since is None
        or (ctx.clock.now() - parse_timestamp(since)).total_seconds() < BLOCKED_SECONDS
    ):
        return
    note = (
        f"cleanup keeps failing: {type(error).__name__}: {error}; annotate {RELEASE}=true to let go"
    )
    ctx.event(BLOCKED, note, type="Warning", action="Cleanup")
    if has_conditions(type(obj)):
        try:
            await _set_condition(ctx, since, note)
        except (ApiError, TransportError) as failure:
            ctx.log.warning("could not write the condition", why=str(failure))


def has_conditions(kind: type[Object]) -> bool:
    """Whether the status of a kind has conditions that are merged by type."""
    status = _status_type(kind)
    hint = codec.declared(status).get("conditions") if status is not None else None
    metas = getattr(hint, "__metadata__", ())
    merged = [getattr(meta, "extra_json_schema", None) or {} for meta in metas]
    return any(schema.get("x-kubernetes-list-type") == "map" for schema in merged)


def _status_type(kind: type[Object]) -> type | None:
    for base in getattr(kind, "__orig_bases__", ()):
        if get_origin(base) is Custom:
            status: type = get_args(base)[1]
            return status
    return None


async def _set_condition(ctx: Context[Any], since: str, note: str) -> None:
    condition = {
        "type": BLOCKED,
        "status": "True",
        "reason": "CleanupFailed",
        "message": note,
        "lastTransitionTime": timestamp(parse_timestamp(since)),
    }
    body = status_body(ctx.obj, {"conditions": [condition]})
    # A manager of its own: the controller's next status must not take the condition away.
    query = {"fieldManager": f"{ctx.client.manager}-cleanup", "force": "true"}
    patch = Patch(APPLY, body, idempotent=True)
    await ctx.client.rest.patch(type(ctx.obj), ctx.request, patch, sub="status", query=query)
