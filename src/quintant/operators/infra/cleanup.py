"""What is done before a Cluster may go: its infrastructure goes first (step 1 of the document)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from quintant.operators.infra.act.secrets import remove_secrets
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.plan.deletion import HOLD
from quintant.operators.infra.reconcile import InfrastructureReconciler
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result


def cleanup_by(
    reconcile: InfrastructureReconciler,
) -> Callable[[Cluster, Context[Cluster]], Awaitable[Result | None]]:
    """The cleanup that goes the same way as a reconcile."""

    async def cleanup(cluster: Cluster, ctx: Context[Cluster]) -> Result | None:
        """Delete what is at the provider; None once nothing is left."""
        decision = await reconcile.advance(ctx)
        if decision.finished:
            await remove_secrets(ctx, cluster)
            return None
        # Without a time the Cluster would be released.
        return Result(after=decision.after if decision.after is not None else HOLD)

    return cleanup


def held(cluster: Cluster) -> bool:
    """Whether a Cluster has, or will have, an infrastructure: then it is held."""
    return cluster.spec.tosca is not None


def left_behind(cluster: Cluster) -> str:
    """What stays at the provider when a Cluster is released without cleanup."""
    status = cluster.status
    if status is None or not (status.cluster_id or status.operation):
        return "nothing that is known"
    on = status.running_on
    suffix = f" at {on.provider_kind} {on.provider_name}, on {on.kind} {on.name}" if on else ""
    token = status.operation.token if status.operation is not None else ""
    id = status.cluster_id or f"one with the token {token}, if its request was carried out"
    return f"infrastructure {id}{suffix}"
