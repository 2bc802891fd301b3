"""The step that makes members of the pods that wait, one after another. Pure.

Who does not serve yet waits; who is a member already is only recorded; every other pod goes through
an `Attempt`. Before each call the caches are asked whether joiner and contact are still who they
were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from quintant.operators.klight.observed.memory import JoinMemory, Memory
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.observed.questions import Answers, Questions, check, status
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan import candidates
from quintant.operators.klight.plan.actions import Postpone
from quintant.operators.klight.plan.admit import JoinQueue
from quintant.operators.klight.plan.joiner import not_serving, withdrawn
from quintant.operators.klight.plan.step import Now, StepDecision, decided
from quintant.operators.klight.plan.transitions import until

CHECK_SECONDS = 2.0
"""How long a pod that wants to join may take to answer a check."""
TURN_SECONDS = 5.0
"""How long one turn joins, before it looks at the network again."""


@dataclass(frozen=True, slots=True)
class JoinStep:
    """Finds those who are ready to join, and who founds the network if there is none."""

    options: Options
    began: datetime
    """When this process first looked at anything."""

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """Whether those who are due serve; then, of a network to be founded, what they have."""
        due = candidates.due(observed, memory.join, now.began)
        if checks := answers.unanswered(check(peer, CHECK_SECONDS) for peer in due):
            return checks
        ready = _serving(due, answers)
        if observed.stack or self._pause(observed, memory.join, ready, now) > 0:
            return ()
        return answers.unanswered(status(peer, CHECK_SECONDS) for peer in ready)

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """Those who do not serve wait; the others are joined, unless a founder is waited for."""
        due = candidates.due(observed, memory.join, now.began)
        waits = candidates.waits(observed, memory.join, now.began)
        memory = replace(memory, join=replace(memory.join, waits=waits))
        actions, ready = _postponed(due, memory.join, answers, now), _serving(due, answers)
        if ready and not observed.stack:
            join = self._missing(observed, memory.join, ready, now)
            memory, pause = replace(memory, join=join), self._pause(observed, join, ready, now)
            if pause > 0:
                return decided(_left_alone(memory, ready, pause, now), actions, now)
            replies = {peer.uid: answers[status(peer, CHECK_SECONDS)] for peer in ready}
            ready = candidates.founder_first(ready, replies)
        # Checks have deadlines of their own: however long they took, a pod is joined.
        deadline = now.seconds + TURN_SECONDS
        queue = JoinQueue(self.options, self.began, tuple(ready), observed.stack, deadline)
        return decided(memory, actions, now, queue.step())

    def _pause(
        self, observed: Observed, memory: JoinMemory, ready: Sequence[PeerView], now: Now
    ) -> float:
        """Seconds until one of these may found the network."""
        memory = self._missing(observed, memory, ready, now)
        missed = candidates.absent(observed, ready)
        return candidates.founding_pause(self.options, memory, missed, now.seconds)

    def _missing(
        self, observed: Observed, memory: JoinMemory, ready: Sequence[PeerView], now: Now
    ) -> JoinMemory:
        """The memory with the moment since when former members are waited for."""
        missed = candidates.absent(observed, ready) and memory.memberless is None
        return replace(memory, memberless=now.seconds) if missed else memory


def _postponed(
    due: Iterable[PeerView], memory: JoinMemory, answers: Answers, now: Now
) -> list[Postpone]:
    """Those of the due who do not serve."""
    return [
        withdrawn(
            not_serving(peer, health, now.seconds - memory.waits[peer.uid].since), memory.intents
        )
        for peer in due
        if not (health := answers[check(peer, CHECK_SECONDS)]).serves
    ]


def _left_alone(memory: Memory, ready: Iterable[PeerView], pause: float, now: Now) -> Memory:
    for peer in ready:
        memory = until(memory, peer, now.seconds + pause, now.seconds)
    return memory


def _serving(due: Iterable[PeerView], answers: Answers) -> list[PeerView]:
    return [peer for peer in due if answers[check(peer, CHECK_SECONDS)].serves]
