"""One turn of a network: a look, the steps that follow from it, and what is shown of it.

The key is the network, so joins into it are one after another, and networks beside each other. All
is level-triggered: a turn that fails is taken again, and finds what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache

from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.operators.klight.act.run import step_runner, warn_nameless
from quintant.operators.klight.lightnetwork.plan import ShowStep
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.states import NetworkStates
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.turn import begin, steps
from quintant.operators.klight.remote import Peers
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

CALLS = 64
"""How many peers are asked at once, over all networks."""


class LightNetworkReconciler:
    """Keeps every network together; its memory is only hints."""

    def __init__(
        self, options: Options, connect: Callable[[], Peers], metrics: KlightMetrics
    ) -> None:
        self._options, self._metrics, self._peers = options, metrics, cache(connect)
        self.states: NetworkStates = NetworkStates(metrics)
        self._limit = asyncio.Semaphore(CALLS)

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        if not request.name:
            await warn_nameless(ctx, self._options.label)
            return None
        state, epoch, known = self.states.begin(request, ctx)
        turn = step_runner(ctx, self._options, state, self._peers(), self._metrics, self._limit)
        observed = await turn.observe()
        await turn.perform(begin(observed, state.memory, turn.now()))
        for step in steps(observed, self._options, epoch.time):
            await turn.run(step)
        if observed.stack and not known:
            self._metrics.rebuild.set(monotonic() - epoch.seconds)
        result = await turn.run(ShowStep(self._options))
        self.states.end(request, over=result is None)
        return result
