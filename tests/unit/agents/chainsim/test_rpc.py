"""What a simulated node answers: what a real one would, or the garbage that is asked for."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from quintant.agents.chainsim.chain import ChainState, SimulationPhase
from quintant.agents.chainsim.gossip import GossipPeer
from quintant.agents.chainsim.home import SimulatedConfig, initialise
from quintant.agents.chainsim.rpc import KINDS, RpcServer, RpcView
from quintant.http.connection import Connection
from quintant.http.head import parse_request_head
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse
from quintant.wire.comet import MalformedStatus, parse_status

SIBLING = GossipPeer("ab" * 20, "hub-1", "127.0.0.9", True, 7)


class Node:
    """A node that stands at a height, and is asked."""

    def __init__(self, home: Path) -> None:
        initialise(home, "hub-0", "sim-1", Random(1))
        state = ChainState(SimulationPhase.RUNNING, 7, 7)
        self.view = RpcView(SimulatedConfig.read(home), state, block_time="2026-01-01T00:00:00Z")
        self.lost = 0
        self.rpc = RpcServer(self.view, lambda: (SIBLING,), self._lose)

    def _lose(self) -> None:
        self.lost += 1

    async def ask(self, line: str) -> Response | StreamingResponse:
        connection = Connection(lambda _: asyncio.ensure_future(asyncio.sleep(0)))
        head = parse_request_head(f"{line} HTTP/1.1\r\nhost: node\r\n\r\n".encode(), 100)
        return await self.rpc.handle(Request(head, connection))

    async def result(self, path: str) -> Any:
        answer = await self.ask(f"GET {path}")
        assert isinstance(answer, Response)
        return json.loads(answer.body)["result"]


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


async def test_its_status_is_understood_as_a_real_ones(node: Node) -> None:
    answer = await node.ask("GET /status")
    assert isinstance(answer, Response)
    told = parse_status(answer.body)
    assert (told.network, told.height, told.catching_up) == ("sim-1", 7, False)
    assert (told.earliest, told.moniker) == (1, "hub-0")


async def test_while_it_starts_or_syncs_it_catches_up(node: Node) -> None:
    for phase in (SimulationPhase.STARTING, SimulationPhase.SYNCING):
        node.view.state = ChainState(phase, 7, 7)
        assert (await node.result("/status"))["sync_info"]["catching_up"] is True


async def test_a_halted_node_claims_to_be_in_sync_at_the_height_of_the_plan(node: Node) -> None:
    node.view.state = ChainState(SimulationPhase.HALTED, 100, 99)
    sync = (await node.result("/status"))["sync_info"]
    assert (sync["latest_block_height"], sync["catching_up"]) == ("100", False)
    assert await node.result("/health") == {}


async def test_peers_and_blocks_are_told(node: Node) -> None:
    found = await node.result("/net_info")
    assert (found["n_peers"], found["peers"][0]["remote_ip"]) == ("1", "127.0.0.9")
    block = await node.result("/block?height=3")
    assert block["block"]["header"]["height"] == "3"
    answer = await node.ask("GET /block?height=8")
    assert isinstance(answer, Response)
    assert answer.status == 500


@pytest.mark.parametrize("kind", ["html", "error", "empty", "text"])
async def test_garbage_is_answered_until_it_is_taken_back(node: Node, kind: str) -> None:
    assert kind in KINDS
    await node.ask(f"POST /chainsim?garbage={kind}")
    answer = await node.ask("GET /status")
    assert isinstance(answer, Response)
    with pytest.raises(MalformedStatus):
        parse_status(answer.body)
    await node.ask("POST /chainsim")
    assert (await node.result("/status"))["sync_info"]["latest_block_height"] == "7"


async def test_an_answer_of_a_hundred_megabytes_is_made_piece_by_piece(node: Node) -> None:
    await node.ask("POST /chainsim?garbage=huge")
    answer = await node.ask("GET /status")
    assert isinstance(answer, StreamingResponse)
    assert answer.size == 100_000_000
    await answer.pieces.aclose()


async def test_another_chain_can_be_claimed(node: Node) -> None:
    await node.ask("POST /chainsim?garbage=network")
    assert (await node.result("/status"))["node_info"]["network"] == "another-chain"


async def test_what_changes_something_is_posted(node: Node) -> None:
    for line, status in (
        ("GET /chainsim/lose", 405), ("POST /chainsim?garbage=x", 400), ("GET /nowhere", 404),
    ):  # fmt: skip
        answer = await node.ask(line)
        assert answer.status == status
    assert node.lost == 0
    await node.ask("POST /chainsim/lose")
    assert node.lost == 1
