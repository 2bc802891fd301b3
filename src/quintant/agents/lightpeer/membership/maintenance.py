"""What a peer does without being asked, once a second: it looks at one other member.

The cost is the same in a network of five and of a thousand, and every member is looked at about
once a second by another. Who finds a better chain takes it over; who finds a dead member has it
removed; who is no member, though others of its network live, becomes one again. Members that were
removed are looked at now and then: should the network have been split, it grows together.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random
from typing import Final

from quintant.agents.lightpeer.membership.membership import Liveness, MemberList
from quintant.agents.lightpeer.membership.ordering import Members, Ordering
from quintant.agents.lightpeer.membership.sync import Sync
from quintant.agents.lightpeer.rpc.calls import Failed
from quintant.wire.lightpeer import JOIN_NETWORK, JoinRequest, PeerInfo

ROUND_SECONDS = 1.0
GRACE_SECONDS = 5.0
"""After a start: members that were not seen yet may be starting, too, and are not removed."""
CHANGE_SECONDS = 5.0
FORMER_ROUNDS = 10
"""A former member is looked at every so many rounds."""
FORMER = 64
"""So many former members are remembered."""
RETURN_TRIES = 4
"""So many members are asked in one round to let this peer return; all together within 2 seconds."""
JOIN_SECONDS = 30.0


class Maintenance:
    """Keeps the network whole."""

    def __init__(
        self, membership: MemberList, ordering: Ordering, sync: Sync, chance: Random
    ) -> None:
        self.store: Final = membership.store
        self.membership = membership
        self.ordering = ordering
        self.sync = sync
        self.resting = False
        """Whether this peer is leaving, and does not become a member again."""
        self._chance = chance
        self._round: list[str] = []
        self._members: Members = ()
        self._former: list[str] = []
        self._count = 0

    async def run(self) -> None:
        """Tend the network for ever."""
        began = asyncio.get_running_loop().time()
        await self.rejoin()
        while True:
            await asyncio.sleep(ROUND_SECONDS * self._chance.uniform(0.9, 1.1))
            try:
                await self._tend(asyncio.get_running_loop().time() - began)
            except Failed:
                continue  # The next round sees what is left to do.

    async def rejoin(self) -> None:
        """Be a member again, by the first other one of this network that helps."""
        others = [each.address for each in self.membership.others]
        for address in self._chance.sample(others, min(len(others), RETURN_TRIES)):
            with suppress(Failed):
                if (await self.membership.look(address)).liveness is Liveness.OURS:
                    await self._return(address)
                    return

    async def _tend(self, age: float) -> None:
        self._remember()
        self._count += 1
        if self.store.failures:
            await self.store.retry()
        if not self.resting and self._count % FORMER_ROUNDS == 0:
            await self._heal()
        if not self.resting and self.store.chain and not self.store.listed:
            await self.rejoin()
        if (address := self._next()) is not None:
            await self._visit(address)
        if self._gone(age):
            await self.ordering.change(
                lambda members: _without(members, self._gone(age)), CHANGE_SECONDS
            )

    async def _visit(self, address: str) -> None:
        seen = await self.membership.look(address)
        if not seen.liveness.member:
            await self.membership.confirm(address)
        elif seen.card is not None:
            if seen.card.beats(self.store.card):
                await self.sync.pull(address)
            await self.store.seen(seen.card.head)

    async def _return(self, address: str) -> None:
        """Have the chain of another member, and be in it."""
        await self.sync.pull(address)
        if not self.store.listed or self.store.truncated:
            await self.sync.join(address, merge=True)

    async def _heal(self) -> None:
        """Look at one former member; if it still has this network's chain, be one network again."""
        if not self._former:
            return
        self._former.append(address := self._former.pop(0))
        seen = await self.membership.look(address)
        if seen.card is None or seen.liveness is not Liveness.OURS or not self.store.root:
            return
        if seen.card.beats(self.store.card):
            await self._return(address)
        else:
            await self.membership.dial.ask(
                address,
                JOIN_NETWORK,
                JoinRequest(self.membership.me),
                seconds=JOIN_SECONDS,
                metadata=self.store.card.metadata(),
            )

    def _next(self) -> str | None:
        """The member to look at now: each once, in an order of our own, then again."""
        members = {each.address for each in self.membership.others} - self.membership.dead
        self._round = [each for each in self._round if each in members]
        if not self._round and members:
            self._round = sorted(members)
            self._chance.shuffle(self._round)
        return self._round.pop() if self._round else None

    def _gone(self, age: float) -> set[str]:
        """The dead members to be removed."""
        dead = self.membership.removable
        return dead & set(self.membership.last_seen) if age < GRACE_SECONDS else dead

    def _remember(self) -> None:
        """Note who is no member any more."""
        now = self.store.members
        if now == self._members:
            return
        gone = _addresses(self._members) - _addresses(now)
        former = [each for each in (*self._former, *sorted(gone)) if each not in _addresses(now)]
        self._former = list(dict.fromkeys(former))[-FORMER:]
        self._members = now
        self.membership.forget()


def _addresses(members: Members) -> set[str]:
    return {each.address for each in members}


def _without(members: Members, gone: set[str]) -> tuple[PeerInfo, ...]:
    return tuple(each for each in members if each.address not in gone)
