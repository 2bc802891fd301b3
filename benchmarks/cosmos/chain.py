"""Modelled nodes of a chain: each listens at the address of its simulated pod, as CometBFT does.

`python -m benchmarks.cosmos.chain` is one address that answers for all: it prints its port.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast

import msgspec

from quintant.operators.cosmos.api.views import NodePod
from quintant.runtime.cache.client import Client
from quintant.wire.comet import RPC_PORT

NETWORK = "bench-1"
BLOCK_SECONDS = 5.0
_END = b"\r\n\r\n"
_HASH = "A1B2C3D4" * 8

Body = Callable[[], bytes]


def status_body(*, catching_up: bool = False) -> bytes:
    """What a node answers to /status: as much as CometBFT says."""
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    sync = {
        "latest_block_hash": _HASH, "latest_app_hash": _HASH,
        "latest_block_height": str(int(time.time() / BLOCK_SECONDS)), "latest_block_time": now,
        "earliest_block_hash": _HASH, "earliest_app_hash": _HASH, "earliest_block_height": "1",
        "earliest_block_time": now, "catching_up": catching_up,
    }  # fmt: skip
    node = {
        "protocol_version": {"p2p": "8", "block": "11", "app": "1"}, "id": _HASH[:40].lower(),
        "listen_addr": "tcp://0.0.0.0:26656", "network": NETWORK, "version": "0.38.17",
        "channels": "40202122233038606100", "moniker": "bench",
        "other": {"tx_index": "on", "rpc_address": "tcp://0.0.0.0:26657"},
    }  # fmt: skip
    key = {"type": "tendermint/PubKeyEd25519", "value": "A" * 44}
    validator = {"address": _HASH[:40], "pub_key": key, "voting_power": "0"}
    parts = {"node_info": node, "sync_info": sync, "validator_info": validator}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": -1, "result": parts})


class StatusProtocol(asyncio.Protocol):
    """Answers every request on a connection with what its node says now."""

    def __init__(self, body: Body, open_connections: set[asyncio.Transport]) -> None:
        self._body, self._open = body, open_connections
        self._transport: asyncio.Transport | None = None
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._open.add(self._transport)

    def connection_lost(self, error: Exception | None) -> None:
        if self._transport is not None:
            self._open.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        *asked, self._rest = (self._rest + data).split(_END)
        for _ in asked:
            body = self._body()
            head = (
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            )
            if self._transport is not None:
                self._transport.write(head % len(body) + body)


@dataclass(slots=True)
class _Listener:
    uid: str
    server: asyncio.Server
    connections: set[asyncio.Transport]

    def close(self) -> None:
        self.server.close()
        for each in tuple(self.connections):
            each.abort()


@dataclass
class ChainNodes:
    """The node of every running pod; it is in sync some time after its pod runs."""

    sync_seconds: float
    running_since: dict[str, float] = field(default_factory=dict)
    """By the uid of the pod, on this process's clock."""
    stopped: set[str] = field(default_factory=set)
    """The names of pods whose nodes do not answer."""
    answered: int = 0
    """How often nodes were asked."""
    _listeners: dict[str, _Listener] = field(default_factory=dict)
    _pods: dict[str, NodePod] = field(default_factory=dict)

    async def follow(self, client: Client) -> None:
        """Listen for every pod that runs, and no longer than it does."""
        async for change in client.watch(NodePod):
            pod = change.new
            if pod is None or pod.deleting or pod.status.phase != "Running":
                known = change.old or pod
                if known is not None:
                    self._forget(known)
            elif pod.status.pod_ip:
                self._pods[pod.metadata.name] = pod
                self.running_since.setdefault(pod.metadata.uid, time.monotonic())
                await self._listen(pod)

    async def stop(self, name: str) -> None:
        """Let the node of a pod die; the pod stays."""
        self.stopped.add(name)
        self._close(name)

    async def start(self, name: str) -> None:
        """Let it answer again."""
        self.stopped.discard(name)
        await self._listen(self._pods[name])

    def synced_at(self, uid: str) -> float | None:
        """When a node is or was in sync, on this process's clock; None before its pod runs."""
        since = self.running_since.get(uid)
        return None if since is None else since + self.sync_seconds

    def close(self) -> None:
        """Listen for nobody any more."""
        for name in tuple(self._listeners):
            self._close(name)

    async def _listen(self, pod: NodePod) -> None:
        name, uid = pod.metadata.name, pod.metadata.uid
        held = self._listeners.get(name)
        if name in self.stopped or (held is not None and held.uid == uid):
            return
        self._close(name)

        def body() -> bytes:
            self.answered += 1
            ready = self.synced_at(uid)
            return status_body(catching_up=ready is None or time.monotonic() < ready)

        self._listeners[name] = await listen(body, pod.status.pod_ip, RPC_PORT, uid)

    def _forget(self, pod: NodePod) -> None:
        held = self._listeners.get(pod.metadata.name)
        if held is not None and held.uid == pod.metadata.uid:
            self._close(pod.metadata.name)

    def _close(self, name: str) -> None:
        held = self._listeners.pop(name, None)
        if held is not None:
            held.close()


async def listen(body: Body, address: str, port: int, uid: str = "") -> _Listener:
    """Answer at an address."""
    connections: set[asyncio.Transport] = set()
    server = await asyncio.get_running_loop().create_server(
        lambda: StatusProtocol(body, connections), address, port, backlog=4096
    )
    return _Listener(uid, server, connections)


def many_files() -> None:
    """Let this process have as many connections as it may."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def main() -> None:
    """Answer for everybody until killed."""
    found = await listen(status_body, "127.0.0.1", 0)
    print(found.server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Future()


if __name__ == "__main__":
    many_files()
    asyncio.run(main())
