"""What is done before a PortalExpose may go: its Deployment goes first, and its pods before that.

Neither Service nor TunnelClass is asked for, so that it works when both are gone; and what belongs
to another stays.
"""

from __future__ import annotations

from datetime import datetime

from quintant.api.apps import Deployment
from quintant.core.clock import parse_timestamp
from quintant.operators.portal.api import PortalExpose
from quintant.operators.portal.builders import deployment_name
from quintant.operators.portal.plan.events import DELETED
from quintant.runtime.apply import controlled
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

# Until the next look, beside the watch: as long as it has taken so far, within these bounds.
_LEAST_SECONDS, _MOST_SECONDS = 1.0, 30.0


async def cleanup(expose: PortalExpose, ctx: Context[PortalExpose]) -> Result | None:
    """Delete the Deployment and wait until it is gone; None once it is."""
    name, namespace = deployment_name(expose.metadata.name), expose.metadata.namespace
    # The last look before the finalizer goes must not be into a cache that is behind.
    deployment = await ctx.client.find(Deployment, name, namespace)
    deployment = deployment or await ctx.client.find(Deployment, name, namespace, live=True)
    if deployment is None or not controlled(deployment, expose):
        ctx.tell(DELETED)
        return None
    if not deployment.deleting:
        await ctx.client.delete(deployment, foreground=True)
    return Result(after=_patience(expose, ctx.clock.now()))


def _patience(expose: PortalExpose, now: datetime) -> float:
    began = expose.metadata.deletion_timestamp
    passed = (now - parse_timestamp(began)).total_seconds() if began else 0.0
    return min(max(passed, _LEAST_SECONDS), _MOST_SECONDS)
