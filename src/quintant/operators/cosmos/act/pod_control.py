"""Keeps the pods: missing ones are made, surplus ones go, and others are replaced by the plan.

A pod is never changed in place. Where something was made or deleted, nothing is replaced in the
same pass: scaling comes first. Whoever takes a node away does so under the lock of its
CosmosFullNode, so that two never spend the same budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.observed.outcome import PodOutcome
from quintant.operators.cosmos.plan.children import adoptable, wanted_pods
from quintant.operators.cosmos.plan.rollout import plan_pods
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.runtime.apply import Policy, check_current, control
from quintant.runtime.cache.client import Client

POLICY = Policy(mark=MARK, update="leave", delete="foreground", adopts=adoptable)


@dataclass(frozen=True, slots=True)
class PodControl:
    """Makes, replaces and deletes pods."""

    tools: Tools
    cache: CometCache

    async def __call__(
        self, client: Client, observed: Observed, checksums: Mapping[str, str]
    ) -> PodOutcome:
        """Bring the pods in line, as far as the budget allows."""
        full_node, wanted = observed.full_node, wanted_pods(observed, checksums, self.tools)
        changes = await control(client, wanted, observed.pods, by=full_node, policy=POLICY)
        plan = plan_pods(observed, changes)  # type: ignore[arg-type]
        if plan.replaces:
            await check_current(client, full_node)
        for pod in plan.delete:
            await client.delete(pod, foreground=True)
            self.cache.invalidate(pod.metadata.uid)
        return plan.outcome
