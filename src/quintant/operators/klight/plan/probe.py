"""The step that checks the members of a network from time to time. Pure.

The contact, if it is one of our own peers, is also asked whom it sees. `plan.sweep` has what the
answers mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quintant.core.text import one_line
from quintant.operators.klight.observed.answers import PeerHealth
from quintant.operators.klight.observed.memory import Memory, ProbeMemory
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.observed.questions import (
    Answers,
    PeerCall,
    Questions,
    check,
    newest,
    status,
)
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan import sweep
from quintant.operators.klight.plan.actions import CountFailures
from quintant.operators.klight.plan.step import Now, StepDecision, decided
from quintant.operators.klight.plan.sweep import Checked
from quintant.wire.peeradmin import StatusResponse

PROBE_SECONDS = 1.0
"""How long a member may take to answer a check."""
SECOND_SECONDS = 2.0
"""How long it may take when it is asked again."""
JITTER = 0.2
"""How far checks are spread, so that networks are not all checked at once."""


@dataclass(frozen=True, slots=True)
class ProbeStep:
    """Checks every member, if it is time to, and takes the dead off the stack."""

    options: Options

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """Checks, then what the answers make doubtful."""
        if now.began < memory.probe.due:
            return ()
        rounds = _rounds(observed.stack, memory.probe, answers)
        return next(filter(None, map(answers.unanswered, rounds)), ())

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """Drop those who are down, and remember the rest."""
        if now.began < memory.probe.due:
            return StepDecision((), memory)
        checks = checked(observed.stack, answers)
        due = now.began + now.random.jitter(self.options.probe_interval, JITTER)
        latest = replace(learned(memory.probe, checks, answers), due=due)
        drops = sweep.down(latest.misses, checks, self.options)
        failures = CountFailures(sum(not health.serves for _, health in checks))
        return decided(replace(memory, probe=latest), (failures, *drops), now)


def _rounds(
    stack: Sequence[PeerView], memory: ProbeMemory, answers: Answers
) -> Iterator[Sequence[PeerCall[Any]]]:
    """What is asked one after another; each round builds on the answers to those before it."""
    yield [check(peer, PROBE_SECONDS) for peer in stack]
    yield [check(peer, SECOND_SECONDS) for peer in _silent(stack, answers)]
    checks = checked(stack, answers)
    alive = _alive(checks)
    contact = contact_of(alive, memory)
    yield [status(contact, PROBE_SECONDS)] if contact is not None else []
    memory = compared(memory, alive, answers)
    yield [status(peer, PROBE_SECONDS) for peer in writers(checks, memory)]
    if sweep.compares(memory.sweeps):
        sample = alive[: sweep.COMPARED]
        yield [status(peer, PROBE_SECONDS) for peer in sample if peer.uid not in memory.ours]
        if not all(_ours(memory, sample, answers)[peer.uid] for peer in sample):
            yield [newest(peer, SECOND_SECONDS) for peer in sample]


def _silent(stack: Sequence[PeerView], answers: Answers) -> list[PeerView]:
    """Those who are asked twice: we may be the ones who are slow."""
    first = ((peer, answers[check(peer, PROBE_SECONDS)]) for peer in stack)
    return [peer for peer, health in first if health is PeerHealth.SILENT]


def checked(stack: Sequence[PeerView], answers: Answers) -> list[Checked]:
    """How the members are, by the last answer of each."""
    return [
        (peer, answers.get(check(peer, SECOND_SECONDS)) or answers[check(peer, PROBE_SECONDS)])
        for peer in stack
    ]


def _alive(checks: Sequence[Checked]) -> list[PeerView]:
    return [peer for peer, health in checks if health.serves]


def learned(memory: ProbeMemory, checks: Sequence[Checked], answers: Answers) -> ProbeMemory:
    """What is known of the members after a sweep."""
    alive, number = _alive(checks), memory.sweeps
    memory = replace(
        compared(memory, alive, answers),
        misses=sweep.counted(memory.misses, checks),
        sweeps=number + 1,
    )
    reporters = writers(checks, memory)
    statuses = [(peer, answers[status(peer, PROBE_SECONDS)]) for peer in reporters]
    orders = {peer.address: reply.order for peer, reply in statuses if reply and reply.order}
    memory = replace(memory, unwritable=sweep.unwritable(orders))
    return chains(memory, alive[: sweep.COMPARED], answers) if sweep.compares(number) else memory


def contact_of(alive: Sequence[PeerView], memory: ProbeMemory) -> PeerView | None:
    """The member that is asked whom it sees: the newest of our own, as far as it is known."""
    return next((peer for peer in alive if peer.uid not in memory.foreign), None)


def compared(memory: ProbeMemory, alive: Sequence[PeerView], answers: Answers) -> ProbeMemory:
    """The memory with those who are not in the contact's view."""
    contact = contact_of(alive, memory)
    reply: StatusResponse | None
    reply = answers[status(contact, PROBE_SECONDS)] if contact is not None else None
    if contact is None or reply is None:
        # Silence and another make look alike: once all were tried, they are tried again.
        foreign = memory.foreign | {contact.uid} if contact is not None else frozenset()
        return replace(memory, foreign=foreign, missing={}, head="", height=0)
    missing = sweep.unseen(memory.missing, alive, contact, reply)
    return replace(memory, head=one_line(reply.head), height=reply.height, missing=missing)


def writers(checks: Sequence[Checked], memory: ProbeMemory) -> list[PeerView]:
    """Who is asked about the last writes: no member, unless one reports that its last failed."""
    failing = [peer for peer, health in checks if health is PeerHealth.FAILING]
    if not failing:
        return []
    serving = [peer for peer, health in checks if health is PeerHealth.SERVING]
    others = [peer for peer in serving if peer.uid not in memory.foreign]
    return [*failing[: sweep.COMPARED], *others[: sweep.COMPARED]]


def chains(memory: ProbeMemory, sample: Sequence[PeerView], answers: Answers) -> ProbeMemory:
    """The memory with those who have another chain, where peers cannot tell by themselves."""
    memory = replace(memory, ours=_ours(memory, sample, answers))
    if all(memory.ours[peer.uid] for peer in sample):
        return replace(memory, forked="", newest={})
    now = {peer.uid: answers[newest(peer, SECOND_SECONDS)] for peer in sample}
    names = {peer.uid: str(peer.key) for peer in sample}
    forked = sweep.forked(memory.newest, now, names) if memory.newest else memory.forked
    return replace(memory, newest=now, forked=forked)


def _ours(memory: ProbeMemory, sample: Sequence[PeerView], answers: Answers) -> dict[str, bool]:
    """Whether members are our own, with those who were asked just now."""
    unknown = [peer for peer in sample if peer.uid not in memory.ours]
    replies = {peer.uid: answers[status(peer, PROBE_SECONDS)] for peer in unknown}
    return {**memory.ours, **{uid: reply is not None for uid, reply in replies.items()}}
