"""One turn of a network: observe, act as planned, show.

The key is the network, so joins into it are one after another, while networks go on beside each
other. Everything is level-triggered: a turn that fails is taken again, and finds what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import cache

from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.act.turn import run_steps, save, warn_nameless
from quintant.operators.klight.lightnetwork.act import show
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.options import Options
from quintant.operators.klight.remote import Peers
from quintant.runtime.controller.context import KeyContext
from quintant.runtime.controller.result import Result

CALLS = 64
"""How many peers are asked at once, over all networks."""


class NetworkReconciler:
    """Keeps every network together; its memory is only hints."""

    def __init__(
        self, options: Options, connect: Callable[[], Peers], metrics: KlightMetrics
    ) -> None:
        self._options, self._metrics, self._peers = options, metrics, cache(connect)
        self._memories: dict[Request, Memory] = {}
        self._began: tuple[datetime, float] | None = None
        self._limit = asyncio.Semaphore(CALLS)

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        if not request.name:
            await warn_nameless(ctx, self._options.label)
            return None
        began, started = self._began = self._began or (ctx.clock.now(), monotonic())
        known, memory = request in self._memories, self._memories.setdefault(request, Memory())
        context = JoinContext(
            ctx, self._options, self._peers(), self._metrics, memory, self._limit, began
        )
        observed = await context.observe()
        await save(context, observed)
        memory.count(len(observed.peers), monotonic())
        await run_steps(context, observed)
        if observed.stack and not known:
            self._metrics.rebuild.set(monotonic() - started)
        result = await show(context, await context.observe())
        if result is None:
            del self._memories[request]
        self._metrics.networks.set(sum(1 for each in self._memories.values() if each.pods))
        return result
