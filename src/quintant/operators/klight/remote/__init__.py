"""What the controller asks of lightpeers.

`Peers` is the protocol, and `GrpcPeers` beside it speaks it on the wire. A call never raises for
what a peer does: silence, refusal and nonsense are answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from quintant.operators.klight.observed.answers import Answer, Contents, PeerHealth
from quintant.runtime.remote_calls import changes, reads
from quintant.wire.peeradmin import StatusResponse


class Peers(Protocol):
    """What the controller asks of peers; `within` is a deadline in seconds."""

    @reads
    async def check(self, address: str, within: float) -> PeerHealth:
        """Whether the peer at an address serves."""

    @reads
    async def inspect(self, address: str, within: float) -> PeerHealth:
        """A check that also tells whether what serves is a lightpeer at all."""

    @changes("have {address} join the network of {contact}")
    async def join(self, address: str, contact: str, within: float) -> Answer:
        """Have the peer at an address join the network of the contact."""

    @reads
    async def status(self, address: str, within: float) -> StatusResponse | None:
        """How one of our own peers is; None for any other, and for silence."""

    @changes("have {address} leave its network")
    async def leave(self, address: str, reason: str, within: float) -> Answer:
        """Have one of our own peers leave its network; any other answers UNIMPLEMENTED."""

    @reads
    async def contents(self, address: str, within: float) -> Contents:
        """Everything a peer has, as digests; empty if it has nothing, or does not say."""

    @reads
    async def newest(self, address: str, within: float) -> bytes:
        """A digest of what was written last; empty if nothing was, or the peer does not say."""

    @changes("give {members} one list of members")
    async def regroup(self, members: Sequence[str], port: int, within: float) -> dict[str, Answer]:
        """Give peers of another make one list of members, and everything that any of them has."""

    @changes("have {contact} keep what {members} have")
    async def collect(self, contact: str, members: Sequence[str], within: float) -> Answer:
        """Have a peer keep what it lacks and others have; how that ended."""

    @changes("send {address} an empty block")
    async def blank(self, address: str, within: float) -> bool | None:
        """Whether a peer of another make has no chain at all; None if it does not say."""
