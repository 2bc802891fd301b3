"""What siblings tell each other over p2p: one line of JSON with each block.

    {"id": …, "network": …, "moniker": …, "height": 7}

It is not CometBFT's protocol: only simulated nodes understand each other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from quintant.wire.foreign import decode_json

DIAL_SECONDS = 1.0
"""Between two tries to reach a sibling."""
_MOST_LINE = 4096


@dataclass(slots=True)
class GossipPeer:
    """A sibling that is connected."""

    node_id: str
    moniker: str
    address: str
    outbound: bool
    height: int = 0


class Gossip:
    """The connections of a node to its siblings."""

    def __init__(self, network: str, node_id: str, tell: Callable[[], dict[str, object]]) -> None:
        self._network, self._id, self._tell = network, node_id, tell
        self._writers: set[asyncio.StreamWriter] = set()
        self.peers: dict[str, GossipPeer] = {}
        self.answered: set[str] = set()
        """Siblings that were dialled, and answered or were not there."""

    @property
    def heights(self) -> tuple[int, ...]:
        """How far siblings are."""
        return tuple(peer.height for peer in self.peers.values())

    def announce(self) -> None:
        """Tell everybody how far we are."""
        line = json.dumps(self._tell()).encode() + b"\n"
        for writer in self._writers:
            if not writer.is_closing():
                writer.write(line)

    async def dial(self, peer: str) -> None:
        """Keep a connection to a sibling, id@host:port, for ever."""
        host, _, port = peer.rpartition("@")[2].rpartition(":")
        while True:
            with suppress(OSError, ValueError):
                reader, writer = await asyncio.open_connection(host, int(port))
                await self.talk(reader, writer, outbound=True, named=peer)
            self.answered.add(peer)
            await asyncio.sleep(DIAL_SECONDS)

    async def talk(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        outbound: bool = False,
        named: str = "",
    ) -> None:
        """Tell and hear, until the connection ends."""
        known = ""
        self._writers.add(writer)
        try:
            writer.write(json.dumps(self._tell()).encode() + b"\n")
            while line := await reader.readline():
                known = self._hear(line[:_MOST_LINE], writer, outbound) or known
                self.answered.add(named)
        except (OSError, ValueError, KeyError, TypeError):
            pass  # whoever says nonsense is no sibling
        finally:
            self._writers.discard(writer)
            self.peers.pop(known, None)
            writer.close()

    def _hear(self, line: bytes, writer: asyncio.StreamWriter, outbound: bool) -> str:
        document = decode_json(line)
        if document["network"] != self._network or document["id"] == self._id:
            raise ValueError("another chain, or ourselves")
        node_id = str(document["id"])
        address = str(writer.get_extra_info("peername")[0])
        info = self.peers.setdefault(
            node_id, GossipPeer(node_id, str(document["moniker"]), address, outbound)
        )
        info.height = int(document["height"])
        return node_id
