"""Makes members of the pods that wait, one after another, as the plan says.

Who does not serve yet waits; who is a member already is only recorded; everybody else goes through
the steps of `plan.join`. Before each call the cache is asked whether joiner and contact are still
who they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quintant.core.clock import monotonic
from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.observe.memory import Wait
from quintant.operators.klight.observe.view import Observed, PeerView
from quintant.operators.klight.plan import candidates, join
from quintant.operators.klight.plan.actions import (
    Action,
    Drop,
    Enrol,
    Postpone,
    adopt,
    not_serving,
    warning,
)
from quintant.operators.klight.plan.join import Ask, Attempt
from quintant.operators.klight.plan.join_result import Answer, PeerHealth

CHECK_SECONDS = 2.0
"""How long a pod that wants to join may take to answer a check."""
CONTACT_SECONDS = 1.0
"""How long a contact may: another one will do."""
TURN_SECONDS = 5.0
"""How long one turn goes on joining, before it looks at the network anew."""
STATUS_SECONDS = 2.0
"""How long a peer may take to tell whom it sees."""
READ_SECONDS = 5.0
"""How long everything a peer has may take to be read."""
LOOKS = 3
"""How often two chains are compared before they count as two: somebody may write meanwhile."""
LONG_SECONDS = 300.0
"""Between tries where only a human can help: no lightpeer listens, or the chain cannot be sent."""


class JoinTurn:
    """One turn of joining in one network."""

    def __init__(self, context: JoinContext, observed: Observed) -> None:
        self._context, self._memory = context, context.memory
        self._observed, self._stack = observed, list(observed.stack)

    async def run(self) -> None:
        """Join whoever is due."""
        for peer in candidates.waiting(self._observed):
            self._wait(peer)
        due = candidates.due(self._observed, self._memory, monotonic())
        ready = await self._serving(due)
        if ready and not self._stack:
            ready = await self._founders(ready)
        # Checks have deadlines of their own: however long they took, somebody is joined.
        began = monotonic()
        for joiner in ready:
            if monotonic() - began > TURN_SECONDS:
                return
            if await self._context.reader.unchanged(joiner):
                await self._admit(joiner)

    def _wait(self, peer: PeerView) -> Wait:
        return self._memory.wait(peer.uid, peer.incarnation, monotonic())

    async def _serving(self, peers: list[PeerView]) -> list[PeerView]:
        """Those who serve; the others wait."""
        since = {peer.uid: self._wait(peer).since for peer in peers}
        found = await self._context.checks(peers, CHECK_SECONDS)
        for peer, health in found:
            if not health.serves:
                await self._do(not_serving(peer, health, monotonic() - since[peer.uid]))
        return [peer for peer, health in found if health.serves]

    async def _founders(self, ready: list[PeerView]) -> list[PeerView]:
        """The same with the founder first; nobody while pods are still coming."""
        memory, now = self._memory, monotonic()
        missed = candidates.absent(self._observed, ready)
        if missed and memory.memberless is None:
            memory.memberless = now
        pause = candidates.founding_pause(self._context.options, memory, missed, now)
        if pause > 0:
            for peer in ready:
                memory.attempts.wait(peer.uid, now + pause)
            return []
        told = await self._context.statuses(ready, CHECK_SECONDS)
        return candidates.founder_first(ready, {peer.uid: status for peer, status in told})

    async def _admit(self, joiner: PeerView) -> None:
        wait = self._wait(joiner)
        if self._stack and await _is_member(self._context, joiner, self._stack, wait):
            await self._do(adopt(joiner))
            return
        pause = candidates.eviction_pause(joiner, self._memory, wait.since, monotonic())
        if self._stack and pause > 0:
            wait.reason = "it was down a moment ago"
            self._memory.attempts.wait(joiner.uid, monotonic() + pause)
            return
        precheck = self._context.options.precheck_contact
        attempt = join.begin(joiner, tuple(self._stack), precheck=precheck)
        while attempt.end is None:
            attempt = join.after(attempt, await self._ask(attempt))
        for action in join.conclude(attempt):
            await self._do(action)

    async def _ask(self, attempt: Attempt) -> PeerHealth | Answer | None:
        """Take the next step of an attempt; None if the contact is not who it was."""
        contact, peers = attempt.contacts[0], self._context.peers
        if attempt.ask is Ask.INSPECT:
            return await peers.inspect(contact.address, CONTACT_SECONDS)
        if not await self._context.reader.unchanged(contact):
            return None
        if attempt.ask is Ask.CHECK:
            return await peers.check(contact.address, CONTACT_SECONDS)
        return await self._join(attempt.joiner, contact)

    async def _join(self, joiner: PeerView, contact: PeerView) -> Answer:
        # Nobody but the leader may join: two at once would tear the network.
        self._context.ctx.client.fence()
        if joiner.uid in self._memory.foreign:
            # It could not tell afterwards: whoever starts after a crash has to know what to ask.
            await self._context.writer.intend(joiner, contact.address)
        began, late = monotonic(), self._wait(joiner).late
        within = candidates.join_deadline(self._context.options, late, len(self._stack))
        answer = await self._context.peers.join(joiner.address, contact.address, within)
        self._context.metrics.seconds.observe(monotonic() - began)
        return answer

    async def _do(self, action: Action) -> None:
        match action:
            case Drop():
                await self._drop(action)
            case Enrol():
                await self._enrol(action)
            case Postpone():
                await self._postpone(action)

    async def _drop(self, action: Drop) -> None:
        self._stack.remove(action.peer)
        await self._context.writer.clear(action.peer.pod)
        if action.long:
            self._wait(action.peer)
            self._fail(action.peer, long=True)
        self._context.writer.warn(action.peer.pod, action.reason, action.note)

    async def _enrol(self, action: Enrol) -> None:
        self._context.metrics.joins.labels(action.end.value).inc()
        membership = await self._context.writer.enrol(action.peer, action.via, self._stack)
        self._memory.trouble, self._memory.memberless = "", None
        self._stack.insert(0, replace(action.peer, record=membership))
        self._context.writer.say(action.peer.pod, action.reason, action.note)

    async def _postpone(self, action: Postpone) -> None:
        peer, wait = action.peer, self._wait(action.peer)
        if action.end is not None:
            self._context.metrics.joins.labels(action.end.value).inc()
            if action.end.known:
                await self._context.writer.withdraw(peer)
        self._fail(peer, long=action.long)
        wait.reason = action.waiting
        if action.unsettled is not None:
            wait.unsettled = action.unsettled
        if action.unsettled:
            wait.late += 1
            self._memory.attempts.wait(peer.uid, monotonic() + self._context.options.settle)
        if action.trouble:
            self._memory.trouble = action.waiting
        if action.reason:
            self._context.writer.warn(peer.pod, action.reason, warning(action))

    def _fail(self, peer: PeerView, *, long: bool) -> None:
        after = LONG_SECONDS if long else None
        self._memory.attempts.failed(peer.uid, monotonic(), self._context.ctx.random, after=after)


async def _is_member(
    context: JoinContext, joiner: PeerView, stack: Sequence[PeerView], wait: Wait
) -> bool:
    """Whether a member knows the joiner, and is known to it."""
    status = await context.peers.status(joiner.address, STATUS_SECONDS)
    if status is None:
        context.memory.foreign.add(joiner.uid)
        return await _alike(context, joiner, stack[0], wait)
    context.memory.foreign.discard(joiner.uid)
    for contact in candidates.witnesses(joiner, status, stack):
        theirs = await context.peers.status(contact.address, STATUS_SECONDS)
        if candidates.knows(theirs, joiner, status):
            return True
    return False


async def _alike(context: JoinContext, joiner: PeerView, contact: PeerView, wait: Wait) -> bool:
    """Whether a peer of another make is to be taken for a member already."""
    older = candidates.precedes(joiner, context.began)
    proof = candidates.proof_of(
        context.options, unsettled=wait.unsettled, older=older, intended=joiner.intended
    )
    if proof is not candidates.Proof.CONTENTS:
        return proof is candidates.Proof.ASSUMED
    blank = await context.peers.blank(joiner.address, STATUS_SECONDS)
    for _ in range(LOOKS if not blank else 0):
        mine = await context.peers.contents(joiner.address, READ_SECONDS)
        theirs = await context.peers.contents(contact.address, READ_SECONDS)
        if candidates.same_chain(blank, mine, theirs):
            return True
    return False
