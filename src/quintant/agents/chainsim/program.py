"""A simulated node that runs: blocks by the clock, kept on disk, told to siblings and to RPC."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from quintant.agents.chainsim.chain import ChainState, SimulationPhase, StepInputs, step
from quintant.agents.chainsim.gossip import Gossip
from quintant.agents.chainsim.home import ChainData, SimulatedConfig
from quintant.agents.chainsim.rpc import RpcServer, RpcView
from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.agents.embedded_node import host_in_pod
from quintant.agents.multiplex.program import say
from quintant.http.server import serving

PEER_SECONDS = 2.0
"""How long siblings have to be heard before a node goes on without them."""


class SimulatedNode:
    """One node."""

    def __init__(self, home: Path, block_seconds: float, knows: frozenset[str]) -> None:
        self.config: SimulatedConfig = SimulatedConfig.read(home)
        self.data: ChainData = ChainData(home / "data")
        self.view: RpcView = RpcView(self.config, self.data.state, block_time=_now())
        self.gossip: Gossip = Gossip(self.config.chain_id, self.config.node_id, self._hello)
        self.ended: Final = asyncio.Event()
        self._block_seconds, self._knows = block_seconds, knows
        self._began = asyncio.get_running_loop().time()

    async def run(self, stopped: asyncio.Event) -> None:
        """Be a node until it is stopped, or ends by itself."""
        rpc = RpcServer(self.view, lambda: tuple(self.gossip.peers.values()), self._lose)
        tasks = [asyncio.ensure_future(self._blocks())]
        tasks += [asyncio.ensure_future(self.gossip.dial(peer)) for peer in self.config.peers]
        server = await asyncio.start_server(self.gossip.talk, *_bind_address(self.config.p2p))
        waits = [asyncio.ensure_future(each.wait()) for each in (stopped, self.ended)]
        try:
            async with serving(rpc.handle, *_bind_address(self.config.rpc)) as (host, port):
                say("serve", simulator=True, rpc=f"{host}:{port}", height=self.view.state.height)
                await asyncio.wait([*waits, tasks[0]], return_when=asyncio.FIRST_COMPLETED)
        finally:
            server.close()
            for task in (*tasks, *waits):
                task.cancel()
            await asyncio.gather(*tasks, *waits, return_exceptions=True)
            self.data.close()
        if tasks[0].done() and not tasks[0].cancelled() and (error := tasks[0].exception()):
            raise error

    async def _blocks(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            # Steps are at whole multiples of the clock: siblings make them at the same moment.
            await asyncio.sleep(self._block_seconds - loop.time() % self._block_seconds)
            self.advance(loop.time())

    def advance(self, now: float) -> None:
        """Make one step."""
        before = self.view.state
        after = step(before, self._inputs(now))
        if after == before:
            return
        self.data.store(after)
        self.view.state = after
        if after.height != before.height:
            self.view.block_time = _now()
        if after.phase is not before.phase:
            self._changed(after)
        self.gossip.announce()

    def _inputs(self, now: float) -> StepInputs:
        heard = all(peer in self.gossip.answered for peer in self.config.peers)
        return StepInputs(
            peers=self.gossip.heights,
            waited=heard or now - self._began >= PEER_SECONDS,
            plan=self.config.plan,
            knows=self._knows,
            halt_height=self.config.halt_height,
            faults=self.view.faults,
        )

    def _changed(self, state: ChainState) -> None:
        say("phase", phase=state.phase.value, height=state.height)
        if state.phase is SimulationPhase.HALTED and self.config.plan is not None:
            self.data.write_upgrade(self.config.plan)
        if state.phase is SimulationPhase.ENDED:
            self.ended.set()

    def _lose(self) -> None:
        self.data.lose()
        self.ended.set()

    def _hello(self) -> dict[str, object]:
        config = self.config
        height = 0 if self.view.faults.frozen else self.view.state.height
        return {
            "id": config.node_id,
            "network": config.chain_id,
            "moniker": config.moniker,
            "height": height,
        }


async def start(
    home: Path, block_seconds: float, knows: frozenset[str], stopped: asyncio.Event
) -> None:
    """Run the node of a home."""
    node = SimulatedNode(home, block_seconds, knows)
    plan = node.config.plan
    if plan is not None and plan.name in knows and 0 < node.data.state.executed < plan.height - 1:
        node.data.close()
        raise NodeToolError(
            f"cannot start at height {node.data.state.executed}",
            f"this version is for the upgrade {plan.name} at {plan.height}, which has not come",
            "start the version before",
        )
    await node.run(stopped)


def handled_upgrades(given: list[str], environ: Mapping[str, str] = os.environ) -> frozenset[str]:
    """The upgrades that this version can do, by its options and CHAINSIM_VERSION."""
    return frozenset(each for each in (*given, environ.get("CHAINSIM_VERSION", "")) if each)


def _bind_address(address: str) -> tuple[str, int]:
    """Where to listen; on the embedded node at the pod's own address."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.port is None:
        raise NodeToolError("cannot start", f"{address!r} in config.toml is no address")
    return host_in_pod(parts.hostname or "0.0.0.0"), parts.port


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
