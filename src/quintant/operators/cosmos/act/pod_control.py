"""Keeps the pods: missing ones are made, surplus ones go, and others are replaced by the plan.

A pod is never changed in place. Where something was made or deleted, nothing is replaced in the
same pass: scaling comes first. Whoever takes a node away does so under the lock of its
CosmosFullNode, so that two never spend the same budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from weakref import WeakValueDictionary

from quintant.core.object import Request
from quintant.operators.cosmos.act.service_control import adoptable
from quintant.operators.cosmos.api.views import NodePod, PodObject
from quintant.operators.cosmos.builders.additional_pod_builder import build_additional_pods
from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.pod_builder import PodInputs, build_pod
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.observe.observed import Observed
from quintant.operators.cosmos.plan.rollout import PodUpdate, is_ended, plan_rollout
from quintant.runtime.apply import Policy, check_current, control
from quintant.runtime.cache.client import Client

POLICY = Policy(mark=MARK, update="leave", delete="foreground", adopts=adoptable)


class DisruptionLocks:
    """One lock per CosmosFullNode: who holds it may take nodes away."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Request, asyncio.Lock] = WeakValueDictionary()

    def of(self, request: Request) -> asyncio.Lock:
        return self._locks.setdefault(request, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class PodOutcome:
    """What became of the pods."""

    progressing: bool = False
    overdue: str = ""


@dataclass(frozen=True, slots=True)
class PodControl:
    """Makes, replaces and deletes pods."""

    tools: Tools
    cache: CometCache

    async def __call__(
        self, client: Client, observed: Observed, checksums: Mapping[str, str]
    ) -> PodOutcome:
        """Bring the pods in line, as far as the budget allows."""
        crd, wanted = observed.crd, list(self._wanted(observed, checksums))
        changes = await control(client, wanted, observed.pods, by=crd, policy=POLICY)
        ended = [pod for pod in observed.pods if is_ended(pod)]
        await self.remove(client, ended)
        if changes.create or changes.delete or ended:
            return PodOutcome(progressing=True)
        updates = (PodUpdate(each.have, each.want) for each in changes.update)  # type: ignore[arg-type]
        rollout = plan_rollout(observed, updates)
        if rollout.delete:
            await check_current(client, crd)
        await self.remove(client, rollout.delete)
        busy = bool(rollout.delete or rollout.more or changes.waiting)
        return PodOutcome(busy and not rollout.overdue, rollout.overdue)

    async def remove(self, client: Client, pods: Iterable[NodePod]) -> None:
        """Delete pods; what their nodes said counts no longer."""
        for pod in pods:
            await client.delete(pod, foreground=True)
            self.cache.invalidate(pod.metadata.uid)

    def _wanted(self, observed: Observed, checksums: Mapping[str, str]) -> Iterable[PodObject]:
        for node in observed.nodes:
            if node.away:
                continue
            given = PodInputs(checksums[node.name], node.version_height)
            pod = build_pod(observed.crd, node.instance, given, self.tools)
            if pod is not None:
                yield pod
            yield from build_additional_pods(observed.crd, node.instance, node.version_height)
