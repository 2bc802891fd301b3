"""What nodes say: asked in the background, rarely and boundedly, and told in the status."""

from __future__ import annotations

import msgspec
import pytest
from structlog.testing import capture_logs

from quintant.cluster.apiserver.filters.audit import AuditRecord
from quintant.core.object import Request
from quintant.operators.cosmos.api.chain import MOST_HEIGHT
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.wire.comet import HEIGHT_LIMIT
from testbeds.cosmos import NAMESPACE, CosmosTestbed

HUB = Request("hub", NAMESPACE)


async def test_reconciles_ask_no_node_anything(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    assert testbed.engine is not None
    before = len(testbed.node("hub-0").asked)
    for _ in range(100):
        for controller in testbed.engine.controllers:
            if controller.name.startswith("cosmos-") and "snapshot" not in controller.name:
                controller.queue.add(HUB)
        await testbed.cluster.advance(0.5)
    assert len(testbed.node("hub-0").asked) - before <= 50 / 5 + 1


async def test_slow_nodes_make_no_reconcile_slow(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    for name in ("hub-0", "hub-1", "hub-2"):
        testbed.node(name).latency = 4.9
    await testbed.cluster.advance(30)
    began = testbed.time
    await testbed.change({"replicas": 4})
    await testbed.until(lambda it: it.status.replicas == 4, within=1)  # type: ignore[union-attr]
    assert testbed.time - began < 0.1


@pytest.mark.parametrize(
    "answer",
    [b'{"error": {"code": -1, "message": "broken"}}', b"<html>hello</html>", b"", b"[1]",
     b'{"result": {"sync_info": 5}}', b"[" * 1_000, b'{"result":' * 1_000, b'"\xff"'],
)  # fmt: skip
async def test_garbage_is_an_error_of_one_node(testbed: CosmosTestbed, answer: bytes) -> None:
    await testbed.run(replicas=2)
    testbed.node("hub-1").answer = answer
    found = await testbed.until(lambda it: it.status.sync["hub-1"].error is not None, within=10.5)  # type: ignore[union-attr]
    assert found.status is not None
    assert "malformed" in (found.status.sync["hub-1"].error or "")
    assert found.status.sync["hub-0"].in_sync
    testbed.node("hub-1").answer = None
    await testbed.until(lambda it: it.status.sync["hub-1"].in_sync is True, within=10.5)  # type: ignore[union-attr]
    assert testbed.deleted == []


def _in_sync(found: CosmosFullNode) -> set[str]:
    return {name for name, node in found.status.sync.items() if node.in_sync}  # type: ignore[union-attr]


async def test_an_answer_that_breaks_its_reader_ends_one_conversation(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3)
    testbed.node("hub-1").breaks = RecursionError("made to harm")
    with capture_logs() as logs:
        await testbed.cluster.advance(60)
    assert [each["key"] for each in logs if each["log_level"] == "error"] == ["test/hub"]
    await testbed.change({"replicas": 4})
    found = await testbed.until(lambda it: _in_sync(it) == {"hub-0", "hub-2", "hub-3"}, within=60)
    assert found.status is not None
    assert found.status.sync["hub-1"].error, "what it said before is not believed any more"
    testbed.node("hub-1").breaks = None
    await testbed.until(lambda it: it.status.sync["hub-1"].in_sync is True, within=30)  # type: ignore[union-attr]
    assert testbed.deleted == []


@pytest.mark.parametrize("height", [str(2**63), str(2**53 - 1), "NaN", "-1", -7, 2**63])
async def test_a_height_that_cannot_be_is_an_error_of_one_node(
    testbed: CosmosTestbed, height: object
) -> None:
    await testbed.run(replicas=2)
    testbed.node("hub-1").answer = _status(height)
    found = await testbed.until(lambda it: it.status.sync["hub-1"].error is not None, within=10.5)  # type: ignore[union-attr]
    assert found.status is not None
    assert not found.status.sync["hub-1"].in_sync
    await testbed.change({"replicas": 3})
    await testbed.until(lambda it: it.status.replicas == 3, within=30)  # type: ignore[union-attr]


async def test_the_highest_height_is_written(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    testbed.node("hub-1").answer = _status(str(HEIGHT_LIMIT))
    found = await testbed.until(lambda it: it.status.height["hub-1"] > 2**52, within=90)  # type: ignore[union-attr]
    assert found.status is not None
    assert found.status.height["hub-1"] == MOST_HEIGHT


async def test_a_node_of_another_chain_is_never_in_sync(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    testbed.node("hub-1").network = "osmosis-1"
    found = await testbed.until(lambda it: it.status.sync["hub-1"].error is not None, within=10.5)  # type: ignore[union-attr]
    assert found.status is not None
    assert "osmosis-1" in (found.status.sync["hub-1"].error or "")


def _status(height: object) -> bytes:
    sync = {"latest_block_height": height, "catching_up": False}
    return msgspec.json.encode(
        {"result": {"node_info": {"network": "cosmoshub-4"}, "sync_info": sync}}
    )


async def test_dead_and_back_is_told_soon(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    for _ in range(3):
        testbed.node("hub-1").down = True
        await testbed.until(lambda it: it.status.sync["hub-1"].error is not None, within=10.5)  # type: ignore[union-attr]
        testbed.node("hub-1").down = False
        await testbed.until(lambda it: it.status.sync["hub-1"].in_sync is True, within=10.5)  # type: ignore[union-attr]


async def test_a_successor_is_nobody_until_it_was_asked(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    pod = (await testbed.pods())["hub-1"]
    await testbed.cluster.client.delete(pod, grace=0)
    found = await testbed.until(lambda it: it.status.sync["hub-1"].in_sync is not True, within=5)  # type: ignore[union-attr]
    assert found.status is not None
    assert found.status.sync["hub-1"].error


async def test_a_node_whose_pod_becomes_ready_is_asked_at_once(testbed: CosmosTestbed) -> None:
    testbed.probe_seconds = 0.5
    await testbed.run(replicas=2)
    for _ in range(5):  # whenever it was asked before
        pod = (await testbed.pods())["hub-1"]
        await testbed.cluster.client.delete(pod, grace=0)
        await testbed.until(lambda it: it.status.sync["hub-1"].in_sync is not True, within=5)  # type: ignore[union-attr]
        while not (found := (await testbed.pods()).get("hub-1")) or not found.ready:
            await testbed.cluster.advance(0.1)
        await testbed.until(lambda it: it.status.sync["hub-1"].in_sync is True, within=0.2)  # type: ignore[union-attr]


async def test_at_rest_a_status_is_written_once_a_minute_and_nothing_else(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3)
    await testbed.cluster.advance(60)
    assert testbed.account is not None
    before = len(_writes(testbed))
    await testbed.cluster.advance(600)
    written = _writes(testbed)[before:]
    assert {each.resource for each in written} == {"cosmosfullnodes/status"}
    assert len(written) <= 11


def _writes(testbed: CosmosTestbed) -> list[AuditRecord]:
    assert testbed.account is not None
    found = testbed.account.requests()
    return [each for each in found if each.verb not in ("get", "list", "watch") and each.code < 400]


async def test_every_permission_is_used_or_accounted_for(testbed: CosmosTestbed) -> None:
    assert testbed.account is not None
    granted = {(each.resource, each.verb) for each in testbed.account.permissions}
    assert not {each for each in granted if each[0] == "secrets"}
    assert ("pods", "create") in granted
    assert ("nodes", "list") not in granted
