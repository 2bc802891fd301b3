"""Asks what a step wants to know: of peers, of the caches, of the API server.

Questions to peers that change nothing are asked at once, within a limit that all networks share.
What changes a peer passes the leader's fence first: two controllers that join at once tear a
network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quintant.core.clock import monotonic
from quintant.core.gather import each
from quintant.operators.klight.act.perform import ActionPerformer
from quintant.operators.klight.observe.reader import ViewReader
from quintant.operators.klight.observed.answers import Answer
from quintant.operators.klight.observed.network import PeerView
from quintant.operators.klight.observed.questions import (
    Collect,
    Create,
    Join,
    Leave,
    NetworkLook,
    NetworkQuestion,
    PeerCall,
    PodsLook,
    Questions,
    Regroup,
    Rejoin,
    Unchanged,
)
from quintant.operators.klight.remote import Peers


@dataclass(frozen=True, slots=True)
class QuestionAsker:
    """The means of one turn to ask."""

    peers: Peers
    reader: ViewReader
    performer: ActionPerformer
    limit: asyncio.Semaphore
    """How many peers are asked at once, over all networks."""

    async def ask_all(self, questions: Questions) -> Sequence[tuple[NetworkQuestion[Any], Any]]:
        """Ask several questions at once."""
        if len(questions) == 1:
            return [(questions[0], await self.ask(questions[0]))]
        return await each(questions, self.ask, limit=self.limit)

    async def ask(self, question: NetworkQuestion[Any]) -> Any:
        """The answer to a question."""
        match question:
            case PeerCall():
                return await self._call(question)
            case Unchanged():
                return await self.reader.unchanged(question.peer)
            case PodsLook():
                return await self.reader.pods(question.keys, live=question.live)
            case NetworkLook():
                return await self.reader.observe_with(question.keys)
            case Create():
                return await self.performer.create(question.wanted)
            case Leave(address, reason, within):
                return await self.peers.leave(address, reason, within)
            case Join():
                return await self._join(question)
        self._fence()
        return await self._repair(question)

    async def _call(self, call: PeerCall[Any]) -> Any:
        if not await self._passes(call.guard):
            return None
        return await getattr(self.peers, call.method)(call.address, call.within)

    async def _repair(self, question: NetworkQuestion[Any]) -> Any:
        match question:
            case Rejoin(address, contact, within):
                return await self.peers.join(address, contact, within)
            case Collect(contact, members, within):
                return await self.peers.collect(contact, members, within)
            case Regroup(members, port, within):
                return await self.peers.regroup(members, port, within)
        raise TypeError(f"nothing answers {question!r}")

    async def _join(self, question: Join) -> Answer | None:
        if not await self._passes(question.guard):
            return None
        self._fence()
        if question.intent:
            await self.performer.note_intent(question.joiner, question.contact)
        began = monotonic()
        answer = await self.peers.join(question.address, question.contact, question.within)
        self.performer.metrics.seconds.observe(monotonic() - began)
        return answer

    async def _passes(self, guard: PeerView | None) -> bool:
        return guard is None or await self.reader.unchanged(guard)

    def _fence(self) -> None:
        self.performer.ctx.client.fence()
