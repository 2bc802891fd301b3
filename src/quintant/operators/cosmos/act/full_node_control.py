"""Carries out one reconcile of the children of a CosmosFullNode, control by control.

    services > node keys > peers > config maps > account, role, binding > claims > pods > surplus
    claims

A control that fails is reported, and only what depends on it is left out: pods are not touched
where the ConfigMaps are not known to be right, while claims continue; no claim goes before its
pod does. Pods are taken away under
the lock of their CosmosFullNode, by what is read and planned again inside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from quintant.core.errors import AlreadyExists
from quintant.operators.cosmos.act.config_map_control import control_config_maps
from quintant.operators.cosmos.act.node_key_control import control_node_keys
from quintant.operators.cosmos.act.pod_control import PodControl
from quintant.operators.cosmos.act.pvc_control import PvcControl
from quintant.operators.cosmos.act.rbac_control import control_account
from quintant.operators.cosmos.act.service_control import control_services
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.builders.node_key_builder import DamagedNodeKey
from quintant.operators.cosmos.builders.peer_builder import build_peers, pending_services
from quintant.operators.cosmos.observe.reader import reread
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.observed.outcome import ClaimOutcome, FullNodeOutcome, PodOutcome
from quintant.operators.cosmos.plan.children import covers
from quintant.operators.cosmos.plan.pre_upgrade import UpgradeSnapshot, plan_pre_upgrade
from quintant.operators.cosmos.remote import NodeRemote
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.key_locks import KeyLocks
from quintant.runtime.reconcile.steps import Steps

INVALID = (DamagedNodeKey, ValueError)
"""Errors of builders and keys: the object, or a child, is wrong until a person changes it."""


@dataclass(frozen=True, slots=True)
class FullNodeControl:
    """All controls together."""

    remote: NodeRemote
    pods: PodControl
    claims: PvcControl
    locks: KeyLocks

    async def __call__(self, ctx: Context[CosmosFullNode], observed: Observed) -> FullNodeOutcome:
        """Bring every child in line, as far as that can be done now."""
        if observed.errors:
            return FullNodeOutcome()
        steps, full_node, client = Steps(invalid=INVALID), observed.full_node, ctx.client
        services = await steps.run("services", control_services(client, observed))
        keys = await steps.run("node keys", control_node_keys(client, observed, self.remote))
        peers, checksums, pods = {}, None, None
        if services is not None and keys is not None:
            peers = build_peers(full_node, keys, services)
            configs = control_config_maps(client, observed, keys, peers)
            checksums = await steps.run("config maps", configs)
        await steps.run("account", control_account(client, observed))
        copied = _copy_volume(ctx, plan_pre_upgrade(observed))
        await steps.run("snapshot before upgrade", copied)
        claims = await steps.run("claims", self._claims(ctx, observed))
        if checksums is not None:
            pods = await steps.run("pods", self._pods(ctx, observed, checksums))
        if claims is not None and pods is not None:
            await steps.run("surplus claims", self.claims.remove(client, observed, claims))
        return FullNodeOutcome(
            failures=tuple(steps.failures),
            pods=pods or PodOutcome(),
            claims=claims or ClaimOutcome(),
            peers=peers,
            pending=pending_services(full_node, services or ()),
            upgrade_waits=observed.pre_upgrade.version is not None,
        )

    async def _pods(
        self, ctx: Context[CosmosFullNode], before: Observed, checksums: Mapping[str, str]
    ) -> PodOutcome:
        async with self.locks.of(ctx.request):
            # Others take nodes away, too: what they wrote since is read under the lock.
            observed = await reread(ctx, self.pods.cache, before)
            if observed is None or not covers(checksums, observed):
                return PodOutcome(progressing=True)
            return await self.pods(ctx.client, observed, checksums)

    async def _claims(self, ctx: Context[CosmosFullNode], observed: Observed) -> ClaimOutcome:
        outcome = await self.claims(ctx.client, observed)
        ctx.tell(*outcome.events)
        return outcome


async def _copy_volume(ctx: Context[CosmosFullNode], wanted: UpgradeSnapshot | None) -> None:
    """Copy the volume of a halted node, once the server knows no pod that writes to it."""
    if wanted is None:
        return
    if await ctx.client.find(NodePod, wanted.pod, ctx.request.namespace, live=True) is None:
        with suppress(AlreadyExists):
            await ctx.client.create(wanted.snapshot)
            ctx.tell(wanted.event)
