"""Holds the Secrets of a cloud with Clusters: without them nobody could delete those Clusters.

`kubectl delete -f` of everything, or the end of a namespace, takes the Secrets first. Each cloud
has a finalizer of its own on them, which says whose it is. What is held is on record in the cloud's
status before it is held, and until it is let go.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.core import Secret
from quintant.core.object import Request, replace
from quintant.operators.infra.api import GROUP, IN_USE, AnyCloud, CloudStatus
from quintant.operators.infra.cloud.plan import CloudObserved, held_secrets, plan, wanted_secrets
from quintant.operators.infra.observe.keys import cloud_key
from quintant.operators.infra.observe.secrets import Secrets
from quintant.runtime.apply.names import LABEL_LENGTH, child_name
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.finalizer import add_finalizer, remove_finalizer


async def keep(ctx: Context[AnyCloud], seen: CloudObserved, secrets: SecretHolder) -> CloudStatus:
    """Write the status, and hold the Secrets; those that are held stand in it all the time."""
    # By the newest status: an old one may lack what is held, and that would be held for ever.
    status = await ctx.update_status(lambda before: plan(seen, before)) or plan(seen, None)
    wanted, name = wanted_secrets(seen, status.held_secrets), holder(seen.cloud)
    # A cloud that nothing holds could go, and leave behind what it holds itself.
    for key in wanted if IN_USE in seen.cloud.metadata.finalizers else ():
        await secrets.hold(ctx.client, key, name)
    for key in status.held_secrets:
        if key not in wanted:
            await secrets.release(ctx.client, key, name)
    if status.held_secrets == wanted:
        return status
    kept = replace(status, held_secrets=wanted)
    await ctx.update_status(lambda before: replace(before or kept, held_secrets=wanted))
    return kept


def holder(cloud: AnyCloud) -> str:
    """The finalizer of a cloud on its Secrets."""
    name = ".".join(filter(None, cloud_key(cloud).split("/"))).lower()
    return f"{GROUP}/{child_name(name, length=LABEL_LENGTH)}"


def left_behind(cloud: AnyCloud) -> str:
    """What stays when a cloud is let go without cleanup."""
    held = held_secrets(cloud)
    return f"the finalizer {holder(cloud)} on Secrets {', '.join(held)}" if held else "nothing"


@dataclass(frozen=True, slots=True)
class SecretHolder:
    """Puts finalizers on Secrets, and takes them off."""

    secrets: Secrets

    async def hold(self, client: Client, key: str, name: str) -> None:
        """Hold a Secret, if it is there and is not going already."""
        request = _request(key)
        found = await self.secrets.find(client, request)
        if found is None or found.deleting or name in found.metadata.finalizers:
            return
        try:
            await add_finalizer(client, found, name)
        finally:
            self.secrets.forget(request)

    async def release(self, client: Client, key: str, name: str) -> None:
        """Let a Secret go."""
        request = _request(key)
        found = await client.find(Secret, *request, live=True)
        if found is not None and name in found.metadata.finalizers:
            await remove_finalizer(client, Secret, found.metadata, name)
        self.secrets.forget(request)


def _request(key: str) -> Request:
    namespace, _, name = key.partition("/")
    return Request(name, namespace)
