"""Runs the steps of a turn: each asks until it knows enough, decides, and has it carried out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from quintant.core.clock import monotonic
from quintant.operators.klight.act.ask import QuestionAsker
from quintant.operators.klight.act.perform import ActionPerformer
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.reader import BY_NETWORK, NetworkState, ViewReader
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import Answers
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.step import Now, StepDecision, TurnStep
from quintant.operators.klight.remote import Peers
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result


@dataclass(slots=True)
class StepRunner:
    """One turn of one network."""

    ctx: KeyContext
    state: NetworkState
    reader: ViewReader
    asker: QuestionAsker
    performer: ActionPerformer
    look: Observed | None = None
    """The last look, while nothing was asked or done since: the next one would show the same."""

    async def observe(self) -> Observed:
        """The network as the caches show it now."""
        self.look = self.look or await self.reader.observe()
        return self.look

    async def run(self, first: TurnStep) -> Result | None:
        """Take a step and those that follow from it, after a look; when to look again."""
        observed, step = await self.observe(), first
        while (decision := await self._decide(step, observed)).then is not None:
            await self.perform(decision)
            step = decision.then
        await self.perform(decision)
        return decision.again

    async def perform(self, decision: StepDecision) -> None:
        """Carry out what was decided."""
        self.look = None if decision.actions else self.look
        await self.performer.perform(decision)

    async def _decide(self, step: TurnStep, observed: Observed) -> StepDecision:
        now, answers = self.now(), Answers()
        while questions := step.questions(observed, self.state.memory, answers, now):
            self.look = None
            answers = answers.extended(await self.asker.ask_all(questions))
            now = replace(self.now(), began=now.began)
        return step.decide(observed, self.state.memory, answers, now)

    def now(self) -> Now:
        """This moment, at which a step begins."""
        seconds = monotonic()
        return Now(seconds, seconds, self.ctx.clock.now(), self.ctx.random)


def step_runner(
    ctx: KeyContext,
    options: Options,
    state: NetworkState,
    peers: Peers,
    metrics: KlightMetrics,
    limit: asyncio.Semaphore,
) -> StepRunner:
    """What runs the steps of one turn; `limit` is how many peers all networks ask at once."""
    reader = ViewReader(ctx.request, ctx.client, options, state)
    performer = ActionPerformer(ctx, state, metrics)
    asker = QuestionAsker(peers, reader, performer, limit)
    return StepRunner(ctx, state, reader, asker, performer)


async def warn_nameless(ctx: KeyContext, label: str) -> None:
    """Warn of pods whose label is empty: a legal value, and no network."""
    for pod in await ctx.client.list(PeerPod, index=(BY_NETWORK, str(ctx.request))):
        note = f"label {label} is empty; write a network's name"
        ctx.event(pod, "InvalidNetworkID", note, type="Warning")
