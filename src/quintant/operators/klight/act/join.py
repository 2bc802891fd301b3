"""Makes members of the pods that wait, one after another.

Who does not serve yet waits; who is a member already, by its own word and the contact's, is only
recorded; everybody else goes through the steps of `plan`. Before each call the cache is asked
whether joiner and contact are still who they were.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.core.clock import monotonic
from quintant.operators.klight.act.adopt import sponsor
from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.api import ADOPTED, FOUNDER
from quintant.operators.klight.observe.memory import Try, postpone
from quintant.operators.klight.observe.view import Observed, Peer
from quintant.operators.klight.plan import join
from quintant.operators.klight.plan.join import Attempt, End
from quintant.operators.klight.plan.join_result import Answer, Health, join_result
from quintant.operators.klight.plan.probe import poverty

CHECK_SECONDS = 2.0
"""How long a pod that wants to join may take to answer a check."""
START_SECONDS = 5.0
"""How long a peer may take to start before its owner is told that it is waited for."""
CONTACT_SECONDS = 1.0
"""How long a contact may: another one will do."""
DOUBLINGS = 2
"""How often the deadline doubles for a pod whose joins took longer: a slow disk, a long chain."""
PER_MEMBER_SECONDS = 0.01
"""What each member adds to the deadline of a join: all are told."""
TURN_SECONDS = 5.0
"""How long one turn goes on joining, before it looks at the network anew."""
BATCH = 64
"""How many pods are checked for one turn: checks of thousands would be old when their turn comes.
A network that is to be founded looks at all, for anyone may be the one with contents."""
EVICTION_SECONDS = 5.0
"""After so long, peers of another make have surely forgotten one that was down."""
RETURN_SECONDS = 5.0
"""How long a network that lost all its members waits for them before somebody founds it anew:
one of them may have what the others have not."""


class Joining:
    """One turn of joining in one network."""

    def __init__(self, desk: JoinContext, network: Observed) -> None:
        self._desk, self._memory, self._hand = desk, desk.memory, desk.hand
        self._stack, self._peers = list(network.stack), network.peers
        self._waiting = [peer for peer in network.candidates if not peer.elsewhere]

    async def run(self) -> None:
        """Join whoever is due, those first who were tried least."""
        due = sorted(filter(self._due, self._waiting), key=lambda peer: self._trial(peer).count)
        ready = await self._serving(due[:BATCH] if self._stack else due)
        if ready and not self._stack:
            ready = await self._founders(ready)
        # Checks have deadlines of their own: however long they took, somebody is joined.
        began = monotonic()
        for joiner in ready:
            if monotonic() - began > TURN_SECONDS:
                return
            if await self._desk.still(joiner):
                await self._admit(joiner)

    def _due(self, peer: Peer) -> bool:
        return self._trial(peer).due <= monotonic()

    def _trial(self, peer: Peer) -> Try:
        return self._memory.trial(peer.uid, peer.incarnation, monotonic())

    async def _serving(self, peers: list[Peer]) -> list[Peer]:
        """Those who serve; the others wait."""
        found = await self._desk.checks(peers, CHECK_SECONDS)
        for peer, health in zip(peers, found, strict=True):
            if health is not Health.SERVING:
                self._wait(peer, health)
        return [each for each, health in zip(peers, found, strict=True) if health is Health.SERVING]

    def _wait(self, peer: Peer, health: Health) -> None:
        trial, foreign = self._trial(peer), health is Health.FOREIGN
        trial.waiting = f"{peer.address} is {health.value}"
        postpone(trial, monotonic(), self._desk.ctx.random, long=foreign)
        if foreign:
            self._desk.metrics.joins.labels(End.NOT_A_PEER.value).inc()
            self._hand.warn(peer.pod, "NotALightpeer", _foreign(peer))
        elif monotonic() - trial.since > START_SECONDS:
            self._hand.warn(peer.pod, "Waiting", f"{trial.waiting}; is lightpeer running there?")

    async def _founders(self, ready: list[Peer]) -> list[Peer]:
        """The same with the founder first; nobody while pods are still coming."""
        if (left := max(self._desk.unrest(), self._absence(ready))) > 0:
            for peer in ready:
                self._trial(peer).due = monotonic() + left
            return []
        statuses = await self._desk.statuses(ready, CHECK_SECONDS)
        told = dict(zip((peer.uid for peer in ready), statuses, strict=True))
        return sorted(ready, key=lambda peer: (poverty(told[peer.uid]), peer.age))

    def _absence(self, ready: list[Peer]) -> float:
        """Seconds for which former members that do not serve yet are still waited for."""
        former = {peer.uid for peer in self._peers if peer.generation}
        if former <= {peer.uid for peer in ready}:
            return 0.0
        if self._memory.bereft is None:
            self._memory.bereft = monotonic()
        return self._memory.bereft + RETURN_SECONDS - monotonic()

    async def _admit(self, joiner: Peer) -> None:
        trial = self._trial(joiner)
        if self._stack and (await self._adopt(joiner, trial) or self._early(joiner, trial)):
            return
        attempt, end, answer = await self._attempt(join.begin(joiner, tuple(self._stack)))
        await self._drop(attempt)
        if end is End.FOUND and attempt.dead:
            # The network has lost its last member just now: who founds it anew is chosen with care.
            return
        self._desk.metrics.joins.labels(end.value).inc()
        match end:
            case End.JOINED:
                await self._joined(joiner, attempt.contacts[0])
            case End.FOUND:
                await self._found(joiner)
            case _:
                self._failed(attempt, end, answer)

    def _early(self, joiner: Peer, trial: Try) -> bool:
        """Whether peers of another make may still list one that was down for a moment only."""
        left = trial.since + EVICTION_SECONDS - monotonic()
        if joiner.uid in self._memory.foreign and joiner.generation and left > 0:
            trial.due, trial.waiting = monotonic() + left, "it was down a moment ago"
            return True
        return False

    async def _adopt(self, joiner: Peer, trial: Try) -> bool:
        """Record a peer that is a member already; whether it was one."""
        if await sponsor(self._desk, joiner, self._stack, trial) is None:
            return False
        self._desk.metrics.joins.labels(ADOPTED).inc()
        await self._enrol(joiner, ADOPTED)
        self._hand.say(joiner.pod, "Joined", f"is in network {joiner.network.name} already")
        return True

    async def _attempt(self, attempt: Attempt) -> tuple[Attempt, End, Answer]:
        """Go through the contacts until one takes the joiner, or none is left."""
        answer = Answer("")
        while True:
            contact = attempt.contact
            if contact is None:
                return attempt, join.exhausted(attempt), answer
            if not await self._desk.still(contact):
                attempt = replace(attempt, contacts=attempt.contacts[1:])
                continue
            if self._desk.options.precheck_contact:
                health = await self._desk.peers.check(contact.address, CONTACT_SECONDS)
                if health is not Health.SERVING:
                    attempt = join.passed(attempt, health)
                    continue
            answer = await self._call(attempt.joiner, contact)
            meaning = join_result(answer)
            if not join.blamed(meaning):
                return attempt, join.ended(meaning), answer
            seen = await self._desk.peers.inspect(contact.address, CONTACT_SECONDS)
            attempt = join.passed(attempt, seen)

    async def _call(self, joiner: Peer, contact: Peer) -> Answer:
        # Nobody but the leader may join: two at once would tear the network.
        self._desk.ctx.client.fence()
        began = monotonic()
        patience = 2 ** min(self._trial(joiner).late, DOUBLINGS)
        within = patience * self._desk.options.join_timeout + PER_MEMBER_SECONDS * len(self._stack)
        answer = await self._desk.peers.join(joiner.address, contact.address, within)
        self._desk.metrics.seconds.observe(monotonic() - began)
        return answer

    async def _drop(self, attempt: Attempt) -> None:
        """Take the dead and the impostors off the stack."""
        for peer in (*attempt.dead, *attempt.bad):
            self._stack.remove(peer)
            await self._hand.clear(peer.pod)
        for peer in attempt.dead:
            self._hand.warn(peer.pod, "PeerDown", f"{peer.address} does not answer; dropped")
        for peer in attempt.bad:
            postpone(self._trial(peer), monotonic(), self._desk.ctx.random, long=True)
            self._hand.warn(peer.pod, "NotALightpeer", _foreign(peer))

    async def _joined(self, joiner: Peer, contact: Peer) -> None:
        await self._enrol(joiner, contact.address)
        note = f"joined network {joiner.network.name} through {contact.key} at {contact.address}"
        self._hand.say(joiner.pod, "Joined", note)

    async def _found(self, joiner: Peer) -> None:
        await self._enrol(joiner, FOUNDER)
        self._hand.say(joiner.pod, "NetworkFormed", f"founded network {joiner.network.name}")

    async def _enrol(self, joiner: Peer, via: str) -> None:
        record = await self._hand.enrol(joiner, via, self._stack)
        self._memory.trouble, self._memory.bereft = "", None
        self._stack.insert(0, replace(joiner, record=record))

    def _failed(self, attempt: Attempt, end: End, answer: Answer) -> None:
        joiner, trial = attempt.joiner, self._trial(attempt.joiner)
        long = end in (End.NOT_A_PEER, End.TOO_LARGE)
        postpone(trial, monotonic(), self._desk.ctx.random, long=long)
        trial.unsettled = end is End.UNSETTLED
        if trial.unsettled:
            trial.late += 1
            trial.due = monotonic() + self._desk.options.settle
        reason, trial.waiting = _explained(attempt, end, answer)
        if end in (End.REFUSED, End.UNREACHABLE):
            self._memory.trouble = trial.waiting
        self._hand.warn(joiner.pod, reason, trial.waiting)


def _foreign(peer: Peer) -> str:
    return (
        f"what listens at {peer.address} is no lightpeer; "
        "name the right port, or run lightpeer there"
    )


def _explained(attempt: Attempt, end: End, answer: Answer) -> tuple[str, str]:
    """Reason and note of a failed attempt: what happened, and what to do."""
    who, said = attempt.joiner.address, answer.text or answer.code
    match end:
        case End.NOT_A_PEER:
            return "NotALightpeer", _foreign(attempt.joiner)
        case End.TOO_LARGE:
            return "ChainBlockTooLarge", f"{said}; a block of the chain is too large to be sent"
        case End.UNREACHABLE:
            names = ", ".join(peer.address for peer in attempt.unreachable)
            return "Unreachable", f"{who} cannot reach {names}: is there a NetworkPolicy between?"
        case End.SILENT:
            names = ", ".join(peer.address for peer in attempt.silent)
            return "Waiting", f"no member answers ({names}); waiting until they do, or are down"
        case End.UNSETTLED:
            return "JoinFailed", f"{who} did not answer in time; looking again before any retry"
        case End.REFUSED:
            return "JoinFailed", f"the network refused {who}: {said}; it may need a repair"
    return "JoinFailed", f"{who} failed while joining: {said}; trying again"
