"""The other members, as far as this peer can see: who answers, who is dead, who is first.

A member is dead once it was asked three times within a second and a half and never answered as a
member of this network. The first member that is not dead decides in which order blocks follow each
other; all others ask it.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.rpc.calls import Dial, Failed
from quintant.agents.lightpeer.scope import Scope
from quintant.wire.lightpeer import HEALTH_CHECK, HealthCheckRequest, PeerInfo, Serving
from quintant.wire.peeradmin import Card, MemberState

LOOK_SECONDS = 0.5
"""How long a member may take to say that it is well; a tenth of what a client waits."""
LOOKS = 3
"""So many times without an answer, one every LOOK_SECONDS, and a member is dead."""
SPARE_SECONDS = 30.0
"""So long the first member is believed that it can reach a member that we cannot."""

log: Final = logging.getLogger("lightpeer")


class Liveness(Enum):
    """What was found at an address."""

    OURS = auto()
    """A peer of ours, with a chain of this network."""
    OPAQUE = auto()
    """A lightpeer that does not say more than that it serves."""
    FOREIGN = auto()
    """A peer of ours in another network, or in none."""
    SILENT = auto()
    """Nothing that serves."""

    @property
    def member(self) -> bool:
        """Whether it may well be a member of this network."""
        return self in (Liveness.OURS, Liveness.OPAQUE)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found at an address, and the chain of a peer of ours."""

    liveness: Liveness
    card: Card | None = None


class MemberList:
    """Looks at other members, and remembers."""

    def __init__(self, store: ChainStore, dial: Dial, scope: Scope) -> None:
        self.store = store
        self.dial = dial
        self.dead: set[str] = set()
        self.doubted: set[str] = set()
        self.last_seen: dict[str, float] = {}
        self.ours: set[str] = set()
        """The members that say which chain they have."""
        self.reached: dict[str, str] = {}
        """The newest block that a member has, as far as we know."""
        self._spared: dict[str, float] = {}
        self._scope = scope
        self._confirming: dict[str, asyncio.Task[bool]] = {}

    @property
    def me(self) -> str:
        """The address of this peer."""
        return self.store.me.address

    @property
    def first(self) -> str:
        """The first member that is not dead, which may be this peer."""
        return next(
            each.address
            for each in self.store.members
            if each.address == self.me or each.address not in self.dead
        )

    @property
    def earlier(self) -> tuple[str, ...]:
        """The members before this peer."""
        addresses = [each.address for each in self.store.members]
        return tuple(addresses[: addresses.index(self.me)])

    @property
    def others(self) -> tuple[PeerInfo, ...]:
        """Every other member, dead or not."""
        return tuple(each for each in self.store.members if each.address != self.me)

    @property
    def alive(self) -> tuple[str, ...]:
        """The addresses of the other members that are not dead."""
        return tuple(each.address for each in self.others if each.address not in self.dead)

    def state(self, address: str) -> MemberState:
        """What is thought of a member."""
        if address in self.dead:
            return MemberState.DOWN
        return MemberState.SUSPECT if address in self.doubted else MemberState.UP

    @property
    def removable(self) -> set[str]:
        """Dead members, apart from those that the first member has seen lately."""
        now = asyncio.get_running_loop().time()
        members = {each.address for each in self.store.members}
        return {each for each in self.dead & members if self._spared.get(each, now) <= now}

    def spare(self, address: str) -> None:
        """Believe for a while that a member lives, though it does not answer us."""
        self._spared[address] = asyncio.get_running_loop().time() + SPARE_SECONDS

    def hear(self, card: Card | None) -> None:
        """Take note of a peer that calls."""
        if card is not None and self._related(card):
            self.meet(card.address, card)

    def meet(self, address: str, card: Card | None) -> bool:
        """Take note of who answers at an address; whether it is a peer of ours in this network."""
        if card is None or not self._related(card):
            self.ours.discard(address)
            return False
        self._well(address)
        self.ours.add(address)
        self.reached[address] = card.head
        return True

    async def look(self, address: str) -> Seen:
        """See who is at an address."""
        try:
            reply = await self.dial.ask(
                address,
                HEALTH_CHECK,
                HealthCheckRequest(),
                seconds=LOOK_SECONDS,
                metadata=self.store.card.metadata(),
            )
        except Failed:
            return Seen(Liveness.SILENT)
        seen = self._judge(reply.message.status, reply.card)
        self.meet(address, seen.card)
        if seen.liveness.member:
            self._well(address)
        return seen

    async def confirm(self, address: str) -> bool:
        """Whether a member that did not answer is dead; asks it again, and again."""
        task = self._confirming.get(address)
        if task is None:
            task = self._confirming[address] = self._scope.begin(self._confirm(address))
            task.add_done_callback(lambda _: self._confirming.pop(address, None))
        return await asyncio.shield(task)

    def forget(self) -> None:
        """Forget peers that are no members any more."""
        members = {each.address for each in self.store.members}
        self.dead &= members
        self.doubted &= members
        self.ours &= members
        for address in set(self.reached) - members:
            del self.reached[address]
        self._spared = {each: when for each, when in self._spared.items() if each in members}
        self.last_seen = {
            address: when for address, when in self.last_seen.items() if address in members
        }

    async def _confirm(self, address: str) -> bool:
        loop = asyncio.get_running_loop()
        self.doubted.add(address)
        for attempt in range(LOOKS):
            began = loop.time()
            if (await self.look(address)).liveness.member:
                return False
            if attempt < LOOKS - 1:
                await asyncio.sleep(began + LOOK_SECONDS - loop.time())
        self.dead.add(address)
        log.info("%s is dead", address)
        return True

    def _judge(self, status: int, card: Card | None) -> Seen:
        if status != Serving.SERVING:
            return Seen(Liveness.SILENT)
        if card is None:
            return Seen(Liveness.OPAQUE)
        return Seen(Liveness.OURS if self._related(card) else Liveness.FOREIGN, card)

    def _related(self, card: Card) -> bool:
        mine = self.store.card
        if mine.network and card.network and mine.network != card.network:
            return False
        return not mine.root or mine.root == card.root

    def _well(self, address: str) -> None:
        self.dead.discard(address)
        self.doubted.discard(address)
        self.last_seen[address] = asyncio.get_running_loop().time()
