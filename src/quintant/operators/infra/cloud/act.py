"""Holds the Secrets of a cloud with Clusters, and releases them: finalizers of the cloud's own."""

from __future__ import annotations

from quintant.api.core import Secret
from quintant.core.object import Request, replace
from quintant.operators.infra.api import AnyCloud
from quintant.operators.infra.cloud.plan import CloudPlan
from quintant.operators.infra.observe.secrets import Secrets
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.finalizer import add_finalizer, remove_finalizer


async def act(ctx: Context[AnyCloud], planned: CloudPlan, secrets: Secrets) -> None:
    """Hold and release Secrets; those that are released leave the record after that."""
    for key in planned.holds:
        await _hold(ctx.client, secrets, _request(key), planned.finalizer)
    for key in planned.releases:
        await _release(ctx.client, secrets, _request(key), planned.finalizer)
    if planned.releases:
        status, held = planned.status, planned.status.held_secrets
        await ctx.update_status(lambda before: replace(before or status, held_secrets=held))


async def _hold(client: Client, secrets: Secrets, key: Request, finalizer: str) -> None:
    """Hold a Secret, if it is there and is not going already."""
    secret = await secrets.find(client, key)
    if secret is None or secret.deleting or finalizer in secret.metadata.finalizers:
        return
    try:
        await add_finalizer(client, secret, finalizer)
    finally:
        secrets.forget(key)


async def _release(client: Client, secrets: Secrets, key: Request, finalizer: str) -> None:
    secret = await client.find(Secret, *key, live=True)
    if secret is not None and finalizer in secret.metadata.finalizers:
        await remove_finalizer(client, Secret, secret.metadata, finalizer)
    secrets.forget(key)


def _request(key: str) -> Request:
    namespace, _, name = key.partition("/")
    return Request(name, namespace)
