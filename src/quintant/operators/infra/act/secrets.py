"""Writes and deletes the Secrets of a Cluster: its kubeconfig, and a template that is too large.

A Secret of one of these names that is not controlled by the Cluster is left alone.
"""

from __future__ import annotations

from contextlib import suppress

from quintant.api.core import Secret
from quintant.core.errors import AlreadyExists
from quintant.core.owner import controller_of
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.builders import kubeconfig_secret, secret_keys
from quintant.operators.infra.observed.cluster import WatchedSecret
from quintant.runtime.reconcile.context import Context


async def save_kubeconfig(
    ctx: Context[Cluster], cluster: Cluster, kubeconfig: str, *, new: bool
) -> str:
    """Write the Secret; why not, if its name is taken. A `new` one is not known yet."""
    wanted = kubeconfig_secret(cluster, kubeconfig)
    if new:
        with suppress(AlreadyExists):
            await ctx.client.create(wanted)
            return ""
    if not await apply_own_secret(ctx, cluster, wanted):
        return f"Secret {wanted.metadata.name} exists and is not ours: rename or remove it"
    return ""


async def apply_own_secret(ctx: Context[Cluster], cluster: Cluster, wanted: Secret) -> bool:
    """Write a Secret; False if one of its name is not the Cluster's."""
    # Caches hold only Secrets with our label, and a Secret of another owner is not to be lost.
    existing = await ctx.client.find(Secret, *wanted.key, live=True)
    if existing is not None and not _controlled(existing, cluster):
        return False
    await ctx.client.apply(wanted)
    return True


async def remove_secrets(ctx: Context[Cluster], cluster: Cluster) -> None:
    """Delete the Secrets that are the Cluster's."""
    for key in secret_keys(cluster):
        secret: Secret | None = await ctx.client.find(WatchedSecret, *key)
        secret = secret or await ctx.client.find(Secret, *key, live=True)
        if secret is not None and _controlled(secret, cluster):
            await ctx.client.delete(secret)


def _controlled(secret: Secret, cluster: Cluster) -> bool:
    controller = controller_of(secret)
    return controller is not None and controller.uid == cluster.metadata.uid
