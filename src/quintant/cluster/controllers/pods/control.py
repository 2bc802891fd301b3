"""RealPodControl: creating and deleting pods of a controller, with events on their owner.

A refusal of the server is an answer and not an error: the owner reports it in its status and tries
again with growing patience.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from quintant.api.meta import Condition
from quintant.cluster.controllers.pods.templates import NewPod
from quintant.cluster.controllers.pods.views import PodState, parse_time
from quintant.core.errors import ApiError
from quintant.runtime.reconcile.context import Context

CREATED, NOT_CREATED = "SuccessfulCreate", "FailedCreate"
DELETED, NOT_DELETED = "SuccessfulDelete", "FailedDelete"
NAMESPACE_TERMINATING = "NamespaceTerminating"
PATIENCE_SECONDS = (1.0, 300.0)
"""The shortest and the longest time before a refused pod is tried again."""


def namespace_terminating(error: ApiError) -> bool:
    """Whether an object was refused because its namespace is being deleted."""
    return any(cause.reason == NAMESPACE_TERMINATING for cause in error.details.causes)


async def create_pod(ctx: Context[Any], pod: NewPod) -> ApiError | None:
    """Make a pod; the refusal, unless the namespace is about to go and nothing is lost."""
    try:
        made = await ctx.client.create(pod)
    except ApiError as error:
        if namespace_terminating(error):
            return None
        ctx.event(NOT_CREATED, f"Error creating: {error.message}", type="Warning")
        return error
    name = made.metadata.name
    ctx.event(CREATED, f"Created pod: {name}", action=f"Create {name}")
    return None


async def delete_pod(ctx: Context[Any], pod: PodState) -> ApiError | None:
    """Delete a pod; the refusal, if there is one."""
    name = pod.metadata.name
    try:
        await ctx.client.delete(pod)
    except ApiError as error:
        ctx.event(NOT_DELETED, f"Error deleting: {error.message}", type="Warning")
        return error
    ctx.event(DELETED, f"Deleted pod: {name}", action=f"Delete {name}")
    return None


def retry_delay(failed: Condition | None, now: datetime) -> float:
    """How many seconds to wait before the next try: as long again as it has been failing."""
    since = parse_time(failed.last_transition_time) if failed is not None else None
    shortest, longest = PATIENCE_SECONDS
    failing = (now - since).total_seconds() if since is not None else shortest
    return min(max(failing, shortest), longest)
