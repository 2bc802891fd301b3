"""Being the first member: none before us lives, and no chain is better than ours.

The first member that lives orders blocks. A successor of one that died looks at every chain
before it orders anything, since it may not have heard of all that was acknowledged.
"""

from __future__ import annotations

from quintant.agents.lightpeer.chain.block import members_in
from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.membership.broadcast import AT_ONCE, Broadcast
from quintant.agents.lightpeer.membership.membership import Liveness, MemberList
from quintant.agents.lightpeer.membership.sync import Sync
from quintant.agents.lightpeer.rpc.calls import refusal
from quintant.wire.lightpeer import Lightblock
from quintant.wire.peeradmin import Card


class Leadership:
    """Makes sure that this peer may order blocks."""

    def __init__(
        self, store: ChainStore, membership: MemberList, sync: Sync, broadcast: Broadcast
    ) -> None:
        self.store = store
        self.membership = membership
        self.sync = sync
        self.broadcast = broadcast
        self._succeeded: tuple[str, ...] = ()

    async def __call__(self) -> None:
        """Be first: none before us lives, and no chain is better than ours."""
        earlier = self.membership.earlier
        line = self.line
        for start in range(0, len(line), AT_ONCE):
            batch = line[start : start + AT_ONCE]
            for address, seen in zip(batch, await self.broadcast.look(batch), strict=True):
                if seen.liveness.member:
                    raise refusal(f"{address} is the first member")
                # A member that asks us to be first has asked it three times.
                self.membership.dead.add(address)
        if earlier and earlier != self._succeeded:
            await self._survey()
            self._succeeded = self.membership.earlier

    @property
    def line(self) -> list[str]:
        """Who is before this peer, and not dead as far as we know."""
        return [each for each in self.membership.earlier if each not in self.membership.dead]

    async def _survey(self) -> None:
        """Take over the best chain of all members that live."""
        seen = await self.broadcast.look(self.membership.alive)
        cards = [each.card for each in seen if each.card and each.liveness is Liveness.OURS]
        best = self.store.card
        for card in cards:
            best = card if card.beats(best) else best
        if best.address != self.membership.me:
            await self.sync.catch(best.address)

    async def doubt(self, block: Lightblock, card: Card) -> str:
        """A member to be removed that answers us, unless it removes itself; empty if none does."""
        stay = {each.address for each in members_in(block.payload)} | {card.address}
        doubtful = [each for each in self.membership.alive if each not in stay]
        for address, seen in zip(doubtful, await self.broadcast.look(doubtful), strict=True):
            if seen.liveness.member:
                return address
            # The proposer of this has asked it three times; so it is not asked again and again.
            self.membership.dead.add(address)
        return ""
