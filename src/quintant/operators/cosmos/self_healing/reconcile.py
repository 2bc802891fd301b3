"""One look of SelfHealing at a CosmosFullNode: observe, remember, act, conclude."""

from __future__ import annotations

from dataclasses import dataclass, field

from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.remote import NodeRemote
from quintant.operators.cosmos.self_healing.act import HealingControl
from quintant.operators.cosmos.self_healing.observe import observe
from quintant.operators.cosmos.self_healing.observed import HealingMemory
from quintant.operators.cosmos.self_healing.plan.conclusion import PASS_SECONDS, conclude
from quintant.operators.cosmos.self_healing.plan.growth import plan_growth
from quintant.operators.cosmos.self_healing.plan.memory import note, remember
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.keyed_state import KeyedState
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class SelfHealingReconciler:
    """Heals CosmosFullNodes whose users ask for it."""

    remote: NodeRemote
    control: HealingControl
    memories: KeyedState[HealingMemory] = field(default_factory=lambda: KeyedState(HealingMemory))

    async def __call__(
        self, full_node: CosmosFullNode, ctx: Context[CosmosFullNode], /
    ) -> Result | None:
        wanted, request = full_node.spec.self_heal, ctx.request
        if wanted is None or full_node.deleting:
            self.memories.forget(request)
            return None
        healing = await observe(ctx, self.control.cache, self.remote)
        if healing.observed.errors:
            return Result(after=PASS_SECONDS)
        self.control.metrics.show_disks(healing.observed, healing.usage)
        memory = self.memories[request] = note(self.memories[request], healing)
        outcome = await self.control(ctx, wanted, memory, plan_growth(healing))
        after = self.memories[request] = remember(memory, healing, outcome)
        return await ctx.conclude(conclude(healing, memory, after))
