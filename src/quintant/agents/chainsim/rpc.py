"""The RPC of a simulated node: what CometBFT answers, as far as anybody here asks.

GET  /status /health /net_info /block?height=N
POST /chainsim?lag=5&garbage=html&frozen=1&catching_up=1    what is wrong from now on
POST /chainsim/lose                                         its databases are gone, and it ends
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from quintant.agents.chainsim.chain import ChainState, Faults, SimulationPhase
from quintant.agents.chainsim.gossip import GossipPeer
from quintant.agents.chainsim.home import SimulatedConfig
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse, text_response

GARBAGE: Mapping[str, Response] = {
    "html": Response(200, {"content-type": "text/html"}, b"<html><body>502</body></html>"),
    "error": Response(500, {}, b'{"jsonrpc":"2.0","id":-1,"error":{"code":-32603,"message":"no"}}'),
    "empty": Response(200, {}, b""),
    "text": Response(200, {}, b"garbage"),
}
HUGE, SILENT, NETWORK = "huge", "silent", "network"
KINDS = (*GARBAGE, HUGE, SILENT, NETWORK)
OTHER_NETWORK = "another-chain"
_HUGE_BYTES = 100_000_000
_JSON = {"content-type": "application/json"}


@dataclass(slots=True)
class RpcView:
    """What the answers are made of; the program keeps it current."""

    config: SimulatedConfig
    state: ChainState
    faults: Faults = field(default_factory=Faults)
    block_time: str = ""
    earliest: int = 1


class RpcServer:
    """Answers for one node."""

    def __init__(
        self,
        view: RpcView,
        peers: Callable[[], tuple[GossipPeer, ...]],
        lose: Callable[[], None],
    ) -> None:
        self._view, self._peers, self._lose = view, peers, lose

    async def handle(self, request: Request) -> Response | StreamingResponse:
        """The answer to a request."""
        query = dict(parse_qsl(request.query))
        if request.path.startswith("/chainsim"):
            return self._control(request, query)
        garbage = await _garbage(self._view.faults.garbage)
        if garbage is not None:
            return garbage
        match request.path:
            case "/status":
                return _result(self.status())
            case "/health":
                return _result({})
            case "/net_info":
                return _result(self._net_info())
            case "/block":
                return self._block(query.get("height", ""))
        return text_response("404 page not found", 404)

    def status(self) -> dict[str, Any]:
        """What the node says of itself."""
        view = self._view
        config, state = view.config, view.state
        network = OTHER_NETWORK if view.faults.garbage == NETWORK else config.chain_id
        behind = state.phase in (SimulationPhase.STARTING, SimulationPhase.SYNCING)
        return {
            "node_info": _node_info(config, network),
            "sync_info": {
                "latest_block_hash": block_hash(config.chain_id, state.height),
                "latest_app_hash": block_hash(config.chain_id, state.executed),
                "latest_block_height": str(state.height),
                "latest_block_time": view.block_time,
                "earliest_block_height": str(view.earliest),
                "catching_up": behind or view.faults.catching_up,
            },
            "validator_info": {"address": config.node_id.upper(), "voting_power": "0"},
        }

    def _net_info(self) -> dict[str, Any]:
        peers = self._peers()
        return {
            "listening": True,
            "listeners": [f"Listener(@{self._view.config.p2p})"],
            "n_peers": str(len(peers)),
            "peers": [
                {
                    "node_info": {"id": peer.node_id, "moniker": peer.moniker},
                    "is_outbound": peer.outbound,
                    "remote_ip": peer.address,
                }
                for peer in peers
            ],
        }

    def _block(self, height: str) -> Response:
        latest, chain = self._view.state.height, self._view.config.chain_id
        number = int(height) if height.isdigit() else latest
        if not 0 < number <= latest:
            error = {"code": -32603, "message": "Internal error", "data": "no such height"}
            return _answer(500, {"jsonrpc": "2.0", "id": -1, "error": error})
        header = {"chain_id": chain, "height": str(number)}
        return _result(
            {"block_id": {"hash": block_hash(chain, number)}, "block": {"header": header}}
        )

    def _control(self, request: Request, query: Mapping[str, str]) -> Response:
        if request.method != "POST":
            return text_response("POST it: it changes something", 405, allow="POST")
        if request.path == "/chainsim/lose":
            self._lose()
            return text_response("its data are lost")
        garbage = query.get("garbage", "")
        if garbage and garbage not in KINDS:
            return text_response(f"garbage is one of {', '.join(KINDS)}", 400)
        self._view.faults = Faults(
            lag=int(query.get("lag") or 0),
            frozen=bool(query.get("frozen")),
            catching_up=bool(query.get("catching_up")),
            garbage=garbage,
        )
        return text_response("ok")


async def _garbage(kind: str) -> Response | StreamingResponse | None:
    """What is answered instead of anything sensible; None if that is not asked for."""
    if kind == HUGE:
        return StreamingResponse(_huge(), size=_HUGE_BYTES)
    if kind == SILENT:
        await asyncio.Event().wait()
    return GARBAGE.get(kind)


async def _huge() -> AsyncGenerator[bytes, None]:
    piece = bytes(100_000)
    for _ in range(_HUGE_BYTES // len(piece)):
        yield piece


def block_hash(chain: str, height: int) -> str:
    """The hash of a block: the same on every node of a chain."""
    return hashlib.sha256(f"{chain}/{height}".encode()).hexdigest().upper() if height else ""


def _node_info(config: SimulatedConfig, network: str) -> dict[str, Any]:
    return {
        "protocol_version": {"p2p": "8", "block": "11", "app": "0"},
        "id": config.node_id,
        "listen_addr": config.p2p,
        "network": network,
        "version": "chainsim",
        "channels": "",
        "moniker": config.moniker,
        "other": {"tx_index": "off", "rpc_address": config.rpc},
    }


def _result(result: Mapping[str, Any]) -> Response:
    return _answer(200, {"jsonrpc": "2.0", "id": -1, "result": result})


def _answer(status: int, body: Mapping[str, Any]) -> Response:
    return Response(status, _JSON, json.dumps(body).encode())
