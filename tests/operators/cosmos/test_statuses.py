"""One status, four writers: the operator's controllers and a sidecar; no key is ever lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quintant.api.quantity import Quantity
from quintant.core.errors import Conflict
from quintant.core.object import Request, replace
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.status import (
    FullNodeStatus,
    PvcAutoScaling,
    SnapshotCandidate,
)
from quintant.runtime.reconcile.status_writer import StatusWriter
from scenarios.soak_size import sized
from testbeds.cosmos import FULL_NODES, NAMESPACE, CosmosTestbed

UPDATES = sized(200)
HUB = Request("hub", NAMESPACE)
Change = Callable[[FullNodeStatus | None], FullNodeStatus]


def candidate(number: int) -> Change:
    """What a schedule writes: its candidate, which comes and goes."""

    def change(status: FullNodeStatus | None) -> FullNodeStatus:
        known = status or FullNodeStatus()
        held = {
            **known.scheduled_snapshot_status,
            "a": SnapshotCandidate(pod_candidate=f"other-{number}"),
        }
        return replace(known, scheduled_snapshot_status=held)

    return change


def asked(number: int) -> Change:
    """What healing writes: the size that it asks for."""

    def change(status: FullNodeStatus | None) -> FullNodeStatus:
        known = status or FullNodeStatus()
        size = PvcAutoScaling(
            requested_size=Quantity(f"{100 + number}Gi"), requested_at="2030-01-01T00:00:00Z"
        )
        scaled = {**known.self_healing.pvc_auto_scaler, "pvc-else": size}
        return replace(known, self_healing=replace(known.self_healing, pvc_auto_scaler=scaled))

    return change


def message(number: int) -> Change:
    """What the controller of CosmosFullNodes writes: what is wrong, in words."""

    def change(status: FullNodeStatus | None) -> FullNodeStatus:
        return replace(status or FullNodeStatus(), status=f"word {number}")

    return change


async def test_three_writers_and_a_sidecar_lose_nothing(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=1)
    await testbed.crash()  # its own writes would be among those counted
    writer = StatusWriter(testbed.cluster.client)

    async def write(make: Callable[[int], Change]) -> None:
        for number in range(UPDATES):
            await _stubborn(writer, make(number))

    async def sidecar() -> None:
        for number in range(UPDATES):
            height = {"status": {"height": {"sidecar-0": number}}}
            await testbed.merge(f"{FULL_NODES}/hub/status", height)
            await asyncio.sleep(0)

    await asyncio.gather(write(candidate), write(asked), write(message), sidecar())
    status = (await testbed.full_node()).status
    assert status is not None
    last = UPDATES - 1
    assert status.scheduled_snapshot_status["a"].pod_candidate == f"other-{last}"
    assert status.self_healing.pvc_auto_scaler["pvc-else"].requested_size == f"{100 + last}Gi"
    assert status.status == f"word {last}"
    assert status.height["sidecar-0"] == last
    assert status.height["hub-0"] > 0


async def _stubborn(writer: StatusWriter, change: Change) -> None:
    while True:
        try:
            await writer.update(CosmosFullNode, HUB, change)
        except Conflict:
            continue  # as the queue of its controller would
        return
