"""One node with many devices is lost: how long shifu takes to decide, and until all have left."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.report import Budget, Table
from benchmarks.shifu_program import controller, rested
from quintant.api.apps import Deployment
from quintant.cluster.instance.cluster import Cluster
from quintant.core.clock import SystemClock, timestamp
from quintant.core.object import Request
from quintant.operators.shifu.api.names import PLACED_NODE
from quintant.operators.shifu.observed.moves import LostNode
from quintant.operators.shifu.observed.placement import PlacementDecision, PlacementRequest
from quintant.operators.shifu.plan.evacuation import Evacuee, leaving
from quintant.operators.shifu.plan.placement import NodeOffer, NodeTable
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.runtime.cache.client import Client
from shifu_site.world import SHIFUS, bare_cluster, settle

NEED = 40 * MEBIBYTE
LOST = "node-0000"
OTHERS = 20
DECIDE_SECONDS = 0.1
LEAVE_SECONDS = 45.0
"""For 1,000 devices: two writes each, fifty in a second, and a little more."""
LOST_AFTER_SECONDS = 1.0
POLL_SECONDS = 0.5
LIMIT_SECONDS = 240.0
METHOD = (
    "deciding: the devices of a lost node sorted and placed one after another on {others} nodes, "
    "each counted before the next; CPU of one process, the best of three. Leaving: the operator as "
    "in a cluster, over HTTPS, with its usual fifty requests a second; from the moment at which "
    "the node is lost until every Deployment names another and every pod there is deleted by force."
)


def loss_table(devices: int) -> Table:
    """Lose a node."""
    decided = min(_decide(devices) for _ in range(3))
    seconds, moved = asyncio.run(_leave(devices))
    allowed = max(5.0, LEAVE_SECONDS * devices / 1000)
    return Table(
        f"One node with {devices:,} devices lost, {OTHERS} others with room",
        METHOD.format(others=OTHERS),
        ("", "to decide", "until all have left", "moved"),
        [("shifu", f"{decided * 1000:.0f} ms", f"{seconds:.1f} s", f"{moved:,}")],
        [
            Budget("decided in 100 ms", f"{decided * 1000:.0f} ms", decided < DECIDE_SECONDS),
            Budget(f"all have left in {allowed:g} s", f"{seconds:.1f} s", seconds < allowed),
            Budget("each once", f"{moved:,} moved", moved == devices),
        ],
    )


def _decide(devices: int) -> float:
    offers = [NodeOffer(f"n{at:02}", free=64 * 1024 * MEBIBYTE, most=2000) for at in range(OTHERS)]
    evacuees = [
        Evacuee(Request(f"d{at}", "devices"), LOST, priority=at % 3) for at in range(devices)
    ]
    want = PlacementRequest(NEED)
    began = time.process_time()
    table = NodeTable(offers)
    for _ in leaving(evacuees, {LOST: LostNode(0.0)}, 100.0):
        found = table.find_placement(want)
        assert isinstance(found, PlacementDecision)
        table.bind(found.node, NEED)
    return time.process_time() - began


async def _leave(devices: int) -> tuple[float, int]:
    """How long it took, and how many moved exactly once."""
    async with bare_cluster() as (cluster, client):
        await settle(client, devices, OTHERS + 1, used=1)
        with TemporaryDirectory() as folder:
            way = Path(folder) / "kubeconfig"
            way.write_bytes(cluster.kubeconfig.reveal())
            with controller(way, NODE_LOST_AFTER=f"{LOST_AFTER_SECONDS:g}s") as child:
                await asyncio.to_thread(rested, child.pid)
                cluster.server.audit.clear()
                await _lose(client)
                began = time.monotonic()
                await _all_left(cluster, devices)
                seconds = time.monotonic() - began - LOST_AFTER_SECONDS
        made = await client.list(Deployment, SHIFUS)
        left = [each for each in made if each.metadata.annotations[PLACED_NODE] != LOST]
        return seconds, sum(each.metadata.generation == 2 for each in left)


async def _lose(client: Client) -> None:
    now = timestamp(SystemClock().now())
    condition = {"type": "Ready", "status": "Unknown", "lastTransitionTime": now}
    await client.raw(
        "PATCH", f"/api/v1/nodes/{LOST}/status",
        body=msgspec.json.encode({"status": {"conditions": [condition]}}),
        headers={"Content-Type": "application/strategic-merge-patch+json"},
    )  # fmt: skip


async def _all_left(cluster: Cluster, devices: int) -> None:
    """Wait until every device has another node, and its pod is gone; some minutes at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LIMIT_SECONDS):
            while min(_counted(cluster)) < devices:  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(POLL_SECONDS)


def _counted(cluster: Cluster) -> tuple[int, int]:
    """Patches of Deployments and deletions of pods so far, as the server counts requests."""
    asked = Counter((each.resource, each.verb) for each in cluster.server.audit)
    return asked["deployments", "patch"], asked["pods", "delete"]
