"""Carries out one pass over the children of a CosmosFullNode, control by control.

    services > node keys > peers > config maps > account, role, binding > pods > claims

A control that fails is told of, and only what depends on it is left out: pods are not touched where
the ConfigMaps are not known to be right, while claims go on.
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from quintant.core.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    NotFound,
    Terminal,
    TransportError,
)
from quintant.core.object import Request
from quintant.core.text import one_line
from quintant.operators.cosmos.act.config_map_control import control_config_maps
from quintant.operators.cosmos.act.node_key_control import control_node_keys
from quintant.operators.cosmos.act.pod_control import DisruptionLocks, PodControl, PodOutcome
from quintant.operators.cosmos.act.pvc_control import ClaimOutcome, PvcControl
from quintant.operators.cosmos.act.rbac_control import control_account
from quintant.operators.cosmos.act.service_control import control_services
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.builders.node_key_builder import DamagedNodeKey
from quintant.operators.cosmos.builders.peer_builder import build_peers, pending_services
from quintant.operators.cosmos.observe.observed import Observed
from quintant.operators.cosmos.observe.reader import reread
from quintant.operators.cosmos.plan.outcome import FullNodeOutcome, StepFailure
from quintant.operators.cosmos.remote import NodeRemote
from quintant.runtime.controller.context import Context

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FullNodeControl:
    """All controls together."""

    remote: NodeRemote
    pods: PodControl
    claims: PvcControl
    locks: DisruptionLocks

    async def __call__(self, ctx: Context[CosmosFullNode], observed: Observed) -> FullNodeOutcome:
        """Bring every child in line, as far as that can be done now."""
        if observed.errors:
            return FullNodeOutcome()
        steps, crd, client = _Steps(), observed.crd, ctx.client
        services = await steps.run("services", control_services(client, observed))
        keys = await steps.run("node keys", control_node_keys(client, observed, self.remote))
        peers, checksums = {}, None
        if services is not None and keys is not None:
            peers = build_peers(crd, keys, services)
            made = control_config_maps(client, observed, keys, peers)
            checksums = await steps.run("config maps", made)
        await steps.run("account", control_account(client, observed))
        await steps.run("snapshot before upgrade", self._copy_before_upgrade(ctx, observed))
        pods = PodOutcome()
        if checksums is not None:
            rolled = await steps.run("pods", self._pods(ctx, observed, checksums))
            pods = rolled or pods
        claims = await steps.run("claims", self.claims(client, observed)) or ClaimOutcome()
        ctx.tell(*claims.events)
        return FullNodeOutcome(
            failures=tuple(steps.failures),
            progressing=pods.progressing
            or claims.progressing
            or observed.pre_upgrade.version is not None,
            peers=peers,
            pending=pending_services(crd, services or ()),
            overdue=pods.overdue,
            refused=claims.refused,
            fresh=claims.fresh,
        )

    async def _copy_before_upgrade(self, ctx: Context[CosmosFullNode], observed: Observed) -> None:
        """Copy the volume of a halted node, once nothing writes to it."""
        copy, candidate = observed.pre_upgrade.create, observed.pre_upgrade.candidate
        if copy is None or candidate is None:
            return
        place = ctx.request.namespace
        if await ctx.client.find(NodePod, candidate.name, place, live=True) is None:
            with suppress(AlreadyExists):
                await ctx.client.create(copy)
                said = f"{candidate.claim} is copied as {copy.metadata.name} before the upgrade"
                ctx.event("SnapshotBeforeUpgrade", said)

    async def _pods(
        self, ctx: Context[CosmosFullNode], before: Observed, checksums: dict[str, str]
    ) -> PodOutcome:
        async with self.locks.of(Request(*ctx.request)):
            # Others take nodes away, too: what they wrote since is seen under the lock.
            observed = await reread(ctx, self.pods.cache, before)
            if observed is None or not {each.name for each in observed.nodes} <= checksums.keys():
                return PodOutcome(progressing=True)
            return await self.pods(ctx.client, observed, checksums)


@dataclass(slots=True)
class _Steps:
    """Runs controls, and keeps what failed."""

    failures: list[StepFailure] = field(default_factory=list)

    async def run(self, step: str, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except (Conflict, NotFound):
            raise  # our view is behind: the next pass sees what is there
        except Terminal as error:
            self.failures.append(StepFailure(step, error, one_line(str(error)), terminal=True))
        except (DamagedNodeKey, ValueError) as error:
            wrapped = Terminal(str(error), reason="Error", event=False)
            self.failures.append(StepFailure(step, wrapped, one_line(str(error)), terminal=True))
        except ApiError as error:
            self.failures.append(StepFailure(step, error, one_line(error.message)))
        except TransportError as error:
            self.failures.append(StepFailure(step, error, one_line(str(error).split("\n")[0])))
        return None
