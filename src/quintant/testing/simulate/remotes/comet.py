"""Nodes of a Cosmos chain: always at the height of the chain while their pods run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from quintant.core.errors import ConnectError

BLOCK_SECONDS = 6.0
GIBIBYTE = 1 << 30
DISK = {"all_bytes": 100 * GIBIBYTE, "free_bytes": 90 * GIBIBYTE}


class CometNodes:
    """The nodes of a chain, as the Cosmos operator asks them; `answers` says who is there."""

    def __init__(self, network: str, answers: Callable[[str], bool]) -> None:
        self._network, self._answers = network, answers

    def connect(self, address: str, port: int) -> CometConnection:
        """A connection to one of them."""
        return CometConnection(self, address)

    def seed(self) -> bytes:
        """The seed of a key: the same in every run."""
        return bytes(32)

    def answer(self, address: str, path: str, query: dict[str, str]) -> bytes:
        """What a node says; ConnectError if its pod does not run."""
        if not self._answers(address):
            raise ConnectError(f"{address} cannot be reached (simulated)")
        if path == "/disk":
            return msgspec.json.encode({"dir": query.get("dir", ""), **DISK})
        if path == "/net_info":
            return msgspec.json.encode({"result": {"n_peers": "2"}})
        height = 1000 + int(asyncio.get_running_loop().time() / BLOCK_SECONDS)
        sync = {"latest_block_height": str(height), "catching_up": False}
        parts = {"node_info": {"network": self._network}, "sync_info": sync, "validator_info": {}}
        return msgspec.json.encode({"result": parts})


class CometConnection:
    """HTTP to one node."""

    def __init__(self, nodes: CometNodes, address: str) -> None:
        self._nodes, self._address = nodes, address

    async def get(self, path: str, query: dict[str, str], seconds: float) -> tuple[int, bytes]:
        """The answer to one question."""
        if path.startswith("/cosmos/"):
            return 200, b'{"plan": null}'
        return 200, self._nodes.answer(self._address, path, query)

    async def close(self) -> None:
        """There is nothing to close."""
