"""What our own lightpeers offer besides: the service `klight.peer.v1.PeerAdmin` on the same port.

A peer of another make answers UNIMPLEMENTED. Our peers also recognise each other by the metadata
of their calls (`Card`), which all other programs ignore: who speaks, and which chain it has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Self

from quintant.wire.lightpeer import Lightblock, Method, Timestamp
from quintant.wire.message import Message

FROM = "klight-from"
CHAIN = "klight-chain"
NETWORK = "klight-network"
PROPOSE = "klight-propose"
"""Metadata of NotifyNewBlock: the first member may link the block again, and tells to which."""
LIMIT = "klight-limit"
ORDER = "klight-order"
SINCE = "klight-since-id"
"""Metadata of Query: at most so many, `oldest` first, and only what came after a block."""

FAILING = "klight-failing"
"""Trailing metadata of a health check: the last write failed; absent if it succeeded."""

TOKEN = "klight-token"
"""Metadata of SetNetwork and Leave: what the peer's token file holds, where it has one."""

REASON = "klight-reason"
"""Trailing metadata of a failed JoinNetwork: why."""

_COUNT = re.compile("[0-9]{1,15}")


class MemberState(IntEnum):
    """What a peer thinks of a member."""

    UP = 0
    SUSPECT = 1
    DOWN = 2


@dataclass(frozen=True, slots=True)
class Member(Message):
    """A member of the network, as a peer sees it."""

    address: Annotated[str, 1] = ""
    name: Annotated[str, 2] = ""
    state: Annotated[int, 3] = MemberState.UP
    last_seen: Annotated[Timestamp | None, 4] = None


@dataclass(frozen=True, slots=True)
class LastOrder(Message):
    """How the last write that clients asked of a peer ended."""

    at: Annotated[Timestamp | None, 1] = None
    failure: Annotated[str, 2] = ""
    """Why it failed; empty if it succeeded."""


@dataclass(frozen=True, slots=True)
class StatusRequest(Message):
    """How are you?"""


@dataclass(frozen=True, slots=True)
class StatusResponse(Message):
    """How a peer is: its chain, its network, its members."""

    address: Annotated[str, 1] = ""
    name: Annotated[str, 2] = ""
    network: Annotated[str, 3] = ""
    head: Annotated[str, 4] = ""
    height: Annotated[int, 5] = 0
    clients: Annotated[int, 6] = 0
    members: Annotated[tuple[Member, ...], 7] = ()
    incarnation: Annotated[str, 8] = ""
    started: Annotated[Timestamp | None, 9] = None
    version: Annotated[str, 10] = ""
    calls: Annotated[int, 12] = 0
    """How many calls to other peers it has made since its start."""
    order: Annotated[LastOrder | None, 13] = None
    """The last write; None if there was none since the start."""
    damage: Annotated[tuple[str, ...], 14] = ()
    """What its disk has lost, a line each; nothing once another member has brought it back."""


@dataclass(frozen=True, slots=True)
class NetworkRequest(Message):
    """The network a peer belongs to, `namespace/id`; it refuses peers that claim another one."""

    network: Annotated[str, 1] = ""


@dataclass(frozen=True, slots=True)
class BlocksRequest(Message):
    """Blocks, newest first: from one (else the newest), until one (else the oldest) exclusive."""

    start: Annotated[str, 1] = ""
    until: Annotated[str, 2] = ""
    limit: Annotated[int, 3] = 0


@dataclass(frozen=True, slots=True)
class TakeRequest(Message):
    """Blocks that a member may not have, oldest first, each linked to the one before."""

    blocks: Annotated[tuple[Lightblock, ...], 1] = ()


@dataclass(frozen=True, slots=True)
class TakeResponse(Message):
    """What could be taken was; the card that comes with it says what the member has now."""


@dataclass(frozen=True, slots=True)
class LeaveRequest(Message):
    """Leave the network, and be alone with an empty chain."""

    reason: Annotated[str, 1] = ""
    to: Annotated[str, 2] = ""


_SERVICE = "/klight.peer.v1.PeerAdmin"
GET_STATUS = Method(f"{_SERVICE}/GetStatus", StatusRequest, StatusResponse)
SET_NETWORK = Method(f"{_SERVICE}/SetNetwork", NetworkRequest, StatusResponse)
GET_BLOCKS = Method(f"{_SERVICE}/GetBlocks", BlocksRequest, Lightblock, streams=True)
TAKE_BLOCKS = Method(f"{_SERVICE}/TakeBlocks", TakeRequest, TakeResponse)
LEAVE = Method(f"{_SERVICE}/Leave", LeaveRequest, StatusResponse)


@dataclass(frozen=True, slots=True)
class Card:
    """Who one of our peers is, and which chain it has; in the metadata of calls and answers."""

    address: str
    root: str = ""
    """The oldest block: equal in all of a network; empty while there is none."""
    head: str = ""
    networks: int = 0
    clients: int = 0
    """How many blocks there are of each type."""
    network: str = ""

    def beats(self, other: Card) -> bool:
        """Whether this chain is the one that both keep: more changes of members, then more blocks.

        A chain that continues another beats it. Of forks, that of the later members wins.
        """
        mine, theirs = (self.networks, self.clients), (other.networks, other.clients)
        return mine > theirs or (mine == theirs and self.head < other.head)

    def metadata(self) -> dict[str, str]:
        """The card as metadata."""
        chain = f"{self.root},{self.head},{self.networks},{self.clients}"
        fields = {FROM: self.address, CHAIN: chain}
        return {**fields, NETWORK: self.network} if self.network else fields

    @classmethod
    def read(cls, metadata: Mapping[str, str]) -> Self | None:
        """The card in metadata; None if there is none, or nonsense."""
        parts = metadata.get(CHAIN, "").split(",")
        address = metadata.get(FROM, "")
        if len(parts) != 4 or not address or not all(map(_COUNT.fullmatch, parts[2:])):
            return None
        return cls(
            address, parts[0], parts[1], int(parts[2]), int(parts[3]), metadata.get(NETWORK, "")
        )
