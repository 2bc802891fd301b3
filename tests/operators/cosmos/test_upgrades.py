"""Chains that upgrade: the right image at the right block, and never before the node is done."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from quintant.api.meta import condition_of
from quintant.api.snapshot import VolumeSnapshot
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from testbeds.cosmos import FULL_NODES, NAMESPACE, CosmosTestbed, full_node

V1, V2 = {"height": 0, "image": "gaia:v1"}, {"height": 300, "image": "gaia:v2"}


def chain(*versions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"image": "", "chain": {"versions": list(versions), **more}}


async def images(testbed: CosmosTestbed) -> list[str]:
    return [pod.spec.containers[0].image for _, pod in sorted((await testbed.pods()).items())]


async def told(testbed: CosmosTestbed, name: str, height: int) -> None:
    """Be the sidecar: tell of upgrade-info.json and of the height in the data."""
    change = {"upgradeInfo": {name: {"height": height, "name": "v2"}}, "height": {name: height}}
    await testbed.merge(f"{FULL_NODES}/hub/status", {"status": change})


def halt(testbed: CosmosTestbed, height: int, *names: str) -> None:
    """Have nodes stand at a height, alive and sure of themselves, as SDK nodes do."""
    for name in names:
        testbed.node(name).halted_at = height


async def test_the_image_is_that_of_the_height(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2, **chain(V1, V2))
    assert await images(testbed) == ["gaia:v1"] * 2
    names = [each.name for each in (await testbed.pods())["hub-0"].spec.containers]
    assert names == ["node", "healthcheck", "version-check-interval"]
    found = await testbed.full_node()
    assert found.status is not None
    assert found.status.height["hub-0"] == (found.status.sync["hub-0"].height or 0) + 1


async def test_no_node_is_replaced_before_it_wrote_the_upgrade_and_then_all_at_once(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3, strategy={"maxUnavailable": 1}, **chain(V1, V2))
    halt(testbed, 300, "hub-0", "hub-1", "hub-2")
    await testbed.cluster.advance(400)
    assert testbed.height > 300
    assert testbed.deleted == []
    for name in ("hub-0", "hub-1", "hub-2"):
        await told(testbed, name, 300)
    halt(testbed, 0, "hub-0", "hub-1", "hub-2")
    await testbed.cluster.advance(2)
    assert sorted(name for _, name in testbed.deleted) == ["hub-0", "hub-1", "hub-2"]
    await testbed.settled()
    assert await images(testbed) == ["gaia:v2"] * 3


async def test_one_that_halted_is_replaced_and_the_others_stay(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, **chain(V1, V2))
    halt(testbed, 300, "hub-0", "hub-1", "hub-2")
    await testbed.cluster.advance(400)
    await told(testbed, "hub-1", 300)
    await testbed.cluster.advance(5)
    assert [name for _, name in testbed.deleted] == ["hub-1"]
    found = await testbed.full_node()
    assert found.status is not None
    assert await images(testbed) == ["gaia:v1", "gaia:v2", "gaia:v1"]


async def test_a_halted_node_is_neither_in_sync_nor_available(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2, strategy={"partition": 9}, **chain(V1, V2))
    halt(testbed, 300, "hub-0", "hub-1")
    await testbed.cluster.advance(300)
    testbed.images = lambda image: image != "gaia:v2"
    await told(testbed, "hub-0", 300)
    await testbed.cluster.advance(20)
    assert "Halted" in await testbed.reasons()


async def test_nodes_that_exit_at_the_height_are_replaced_at_once(testbed: CosmosTestbed) -> None:
    last = {**V2, "setHaltHeight": True}
    await testbed.run(replicas=3, strategy={"maxUnavailable": 1}, **chain(V1, last))
    assert "halt-height = 300" in (await testbed.data("hub-0"))["app-overlay.toml"]
    await testbed.cluster.advance(195 - testbed.time)
    for name in ("hub-0", "hub-1", "hub-2"):
        halt(testbed, 299, name)
    await testbed.cluster.advance(12)
    for name in ("hub-0", "hub-1", "hub-2"):
        testbed.node(name).down = True
    await testbed.until(lambda it: len(testbed.deleted) == 3, within=60)
    for name in ("hub-0", "hub-1", "hub-2"):
        testbed.node(name).down, testbed.node(name).halted_at = False, 0
    await testbed.settled()
    assert await images(testbed) == ["gaia:v2"] * 3
    assert "halt-height = 0" in (await testbed.data("hub-0"))["app-overlay.toml"]


async def test_a_chain_that_passed_the_height_is_replaced_within_the_budget(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3, strategy={"maxUnavailable": 1}, **chain(V1, V2))
    await testbed.cluster.advance(400)
    await testbed.settled()
    assert await images(testbed) == ["gaia:v2"] * 3
    gaps = sorted(at for at, _ in testbed.deleted)
    assert len(gaps) == 3
    assert all(after - before > 5 for before, after in pairwise(gaps))


async def test_a_chain_that_stands_still_is_given_the_time_the_user_says(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=2, **chain(V1, V2, upgradeGraceSeconds=30))
    halt(testbed, 299, "hub-0", "hub-1")
    await testbed.cluster.advance(205 - testbed.time)
    assert testbed.deleted == []
    await testbed.cluster.advance(60)
    assert testbed.deleted


def told_of(found: CosmosFullNode, kind: str) -> tuple[str, str]:
    """Status and reason of a condition."""
    held = condition_of(found.status.conditions if found.status else (), kind)
    return (held.status, held.reason) if held is not None else ("", "")


async def test_a_chain_that_halted_at_a_plan_without_a_version_is_not_ready(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=2, **chain(V1))
    halt(testbed, 300, "hub-0", "hub-1")
    await testbed.cluster.advance(300)
    for name in ("hub-0", "hub-1"):
        await told(testbed, name, 300)
    found = await testbed.phase("Error")
    assert told_of(found, "Ready") == ("False", "NotInSync")
    assert told_of(found, "Degraded") == ("True", "UpgradeMissing")
    assert told_of(found, "UpgradeMissing") == ("True", "UpgradeMissing")
    assert found.status is not None
    assert "height 300" in (found.status.status or "")
    await testbed.cluster.advance(300)
    assert testbed.deleted == []
    assert (await testbed.reasons()).count("UpgradeMissing") == 1
    await testbed.change({"chain": {"versions": [V1, V2]}})
    halt(testbed, 0, "hub-0", "hub-1")
    found = await testbed.settled()
    assert await images(testbed) == ["gaia:v2"] * 2
    assert told_of(found, "Degraded") == ("False", "NothingWrong")


async def test_without_a_sidecar_a_plan_that_the_chain_stands_at_is_enough(
    testbed: CosmosTestbed,
) -> None:
    testbed.planned = {"name": "v2", "height": "300"}
    await testbed.run(replicas=2, chain={"watchUpgradePlans": True})
    halt(testbed, 300, "hub-0", "hub-1")
    await testbed.cluster.advance(400)
    found = await testbed.phase("Error")
    assert told_of(found, "Ready") == ("False", "NotInSync")
    assert told_of(found, "Degraded") == ("True", "UpgradeMissing")
    testbed.planned = None
    halt(testbed, 0, "hub-0", "hub-1")
    await testbed.settled()


async def test_heights_of_removed_instances_are_forgotten(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    await testbed.cluster.advance(61)
    await testbed.change({"replicas": 1})
    found = await testbed.until(lambda it: set(it.status.height) == {"hub-0"})  # type: ignore[union-attr]
    assert found.status is not None
    assert set(found.status.sync) == {"hub-0"}


async def test_what_the_sidecar_tells_and_what_the_operator_writes_both_survive(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=2, **chain(V1))
    testbed.node("hub-1").down = True
    for at in range(1, 30):
        await told(testbed, "hub-1", at)
        await testbed.cluster.advance(3)
    found = await testbed.full_node()
    assert found.status is not None
    assert found.status.height["hub-1"] == 29
    assert found.status.sync["hub-0"].in_sync


async def test_without_versions_there_is_no_sidecar_for_them(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=1)
    names = [each.name for each in (await testbed.pods())["hub-0"].spec.containers]
    assert names == ["node", "healthcheck"]


async def test_versions_out_of_order_are_refused_and_mended(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=1)
    await testbed.apply(full_node(replicas=1, chain={"versions": [V2, V1]}))
    found = await testbed.phase("Error")
    assert found.status is not None
    assert "spec.chain.versions[1].height" in (found.status.status or "")
    assert testbed.deleted == []
    await testbed.apply(full_node(replicas=1, chain={"versions": [V1, V2]}))
    await testbed.settled()


async def test_a_volume_is_copied_before_the_program_changes(testbed: CosmosTestbed) -> None:
    last = {**V2, "snapshotBefore": "standard"}
    await testbed.run(replicas=3, **chain(V1, last))
    halt(testbed, 300, "hub-0", "hub-1", "hub-2")
    await testbed.cluster.advance(400)
    for name in ("hub-0", "hub-1", "hub-2"):
        await told(testbed, name, 300)
    seen: set[str] = set()
    for _ in range(100):
        await testbed.cluster.advance(0.1)
        copies = await testbed.cluster.client.list(VolumeSnapshot, NAMESPACE)
        ready = any(each.status and each.status.ready_to_use for each in copies)
        if not ready:
            seen |= set(await images(testbed))
            assert {name for _, name in testbed.deleted} <= {"hub-0"}
        if copies and not ready:
            assert "hub-0" not in await testbed.pods()
    assert seen == {"gaia:v1"}
    halt(testbed, 0, "hub-0", "hub-1", "hub-2")
    await testbed.settled()
    assert await images(testbed) == ["gaia:v2"] * 3
    (copy,) = await testbed.cluster.client.list(VolumeSnapshot, NAMESPACE)
    assert copy.metadata.name == "hub-before-300"
    assert copy.spec.source.persistent_volume_claim_name == "pvc-hub-0"


async def test_a_copy_that_cannot_be_made_holds_no_upgrade_back_for_ever(
    testbed: CosmosTestbed,
) -> None:
    last = {**V2, "snapshotBefore": "missing"}
    await testbed.run(replicas=2, **chain(V1, last))
    halt(testbed, 300, "hub-0", "hub-1")
    await testbed.cluster.advance(300)
    for name in ("hub-0", "hub-1"):
        await told(testbed, name, 300)
    halt(testbed, 0, "hub-0", "hub-1")
    await testbed.settled(within=2500)
    assert await images(testbed) == ["gaia:v2"] * 2
