"""Many PortalExposes, much time, and an operator that is restarted: nothing is lost or repeated."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from prometheus_client.parser import text_string_to_metric_families

from quintant.api.apps import Deployment
from quintant.api.core import Pod
from quintant.api.meta import condition_of
from quintant.core.object import Request
from quintant.operators.portal.api import PortalExpose, TunnelClass
from quintant.operators.portal.options import Options
from quintant.testing.faults.match import path, writes
from testbeds.portal import PortalTestbed, opened

MANY = 100
CLASSES = "/apis/portal.gosuda.org/v1alpha1/tunnelclasses"


def name(number: int) -> str:
    return f"shop-{number:03}"


async def create_many(testbed: PortalTestbed) -> None:
    """A hundred PortalExposes, created at once."""
    testbed.step = 0.5
    await testbed.serve()
    await testbed.classed()
    await asyncio.gather(*(testbed.expose(name(at)) for at in range(MANY)))


async def phases(testbed: PortalTestbed) -> set[str | None]:
    found = await testbed.cluster.client.list(PortalExpose)
    assert len(found) == MANY
    return {each.status.phase if each.status else None for each in found}


async def test_hundred_at_once_start_soon_and_follow_their_class_within_ten_seconds(
    testbed: PortalTestbed,
) -> None:
    await create_many(testbed)
    await testbed.cluster.advance(5)
    pods = await testbed.cluster.client.list(Pod)
    assert len(pods) == MANY
    assert all(each.status.container_statuses for each in pods)
    await testbed.cluster.advance(5)
    assert await phases(testbed) == {"Ready"}
    assert len(await testbed.cluster.client.list(Deployment)) == MANY
    reasons = await testbed.reasons()
    assert reasons.count("Created") == reasons.count("Ready") == MANY
    assert testbed.engine is not None
    assert testbed.engine.idle

    await testbed.merge(f"{CLASSES}/small", {"spec": {"size": "large"}})
    await testbed.cluster.advance(10)
    for each in await testbed.cluster.client.list(Deployment):
        (container,) = each.spec.template.value["spec"]["containers"]
        assert container["resources"]["requests"]["cpu"] == "500m"
    assert await phases(testbed) == {"Ready"}
    assert (await testbed.reasons()).count("Updated") == MANY


async def test_resync_looks_at_everything_once_and_writes_nothing() -> None:
    period = 5.0
    async with opened(Options(resync_period=period)) as testbed:
        await testbed.ready()
        before, written = _passes(testbed), len(testbed.cluster.faults.seen(writes))
        rounds = 40
        await testbed.cluster.advance(rounds * period)
        assert rounds * 0.85 <= _passes(testbed) - before <= rounds * 1.15
        assert len(testbed.cluster.faults.seen(writes)) == written


def _passes(testbed: PortalTestbed) -> float:
    assert testbed.engine is not None
    text = testbed.engine.metrics.render().decode()
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "portalexpose_reconcile_total"
    )


async def test_refused_creations_wait_ever_longer_and_hinder_nobody(testbed: PortalTestbed) -> None:
    refused = path("/apis/apps/v1/namespaces/default/deployments/poor-tunnel") & writes
    with testbed.cluster.faults.answer(403, when=refused, message="over quota"):
        await testbed.serve()
        await testbed.classed()
        await testbed.expose("poor")
        await testbed.expose("rich")
        await testbed.phase("Ready", "rich")
        await testbed.cluster.advance(90)
        tries = [sent.at for sent in testbed.cluster.faults.seen(refused)]
    gaps = [after - before for before, after in pairwise(tries)]
    # What else wakes it, such as its own status, may come in between at first.
    doubling = [gap for gap in gaps if gap > 0.1]
    assert len(doubling) > 5
    assert all(1.9 < after / before < 2.1 for before, after in pairwise(doubling))
    assert min(gaps) < 0.02
    await testbed.phase("Ready", "poor", within=120)
    assert (await testbed.reasons()).count("DeploymentCreateFailed") == 1


async def test_of_two_defaults_every_restart_chooses_the_same(testbed: PortalTestbed) -> None:
    await testbed.classed("older", size="large")
    await testbed.cluster.advance(2)
    await testbed.classed("newer")
    await testbed.serve()
    await testbed.expose()
    await testbed.phase("Ready")
    before = await testbed.deployment()
    for _ in range(20):
        assert testbed.engine is not None
        await testbed.cluster.crash(testbed.engine)
        await testbed.start()
        await testbed.cluster.advance(2)
        found = await testbed.cluster.get(PortalExpose, "shop")
        assert found.status is not None
        assert found.status.tunnel_class_name == "newer"
    assert (
        await testbed.deployment()
    ).metadata.resource_version == before.metadata.resource_version
    for chosen in ("older", "newer"):
        standing = await testbed.cluster.get(TunnelClass, chosen, "")
        assert standing.status is not None
        conflict = condition_of(standing.status.conditions, "DefaultConflict")
        assert conflict is not None
        assert conflict.status == "True"
    assert (await testbed.reasons()).count("MultipleDefaults") == 2


async def test_life_is_told_in_legal_events_and_rest_in_none(testbed: PortalTestbed) -> None:
    found = await testbed.ready(relays=2)
    testbed.down = {"wss://r1.example.com/relay"}
    await testbed.phase("Degraded")
    testbed.down = set()
    await testbed.phase("Ready")
    await testbed.cluster.advance(5)
    told = await testbed.events()
    assert testbed.engine is not None
    for _ in range(20):
        testbed.engine.controllers[0].queue.add(Request("shop", "default"))
        await testbed.cluster.advance(5)
    assert await testbed.events() == told
    await testbed.cluster.client.delete(found)
    await testbed.cluster.wait_deleted(PortalExpose, "shop")
    told = await testbed.events()
    assert {type for type, _, _ in told} == {"Normal", "Warning"}
    # The second Ready is counted with the first.
    assert [reason for _, reason, _ in told] == [
        "Created", "Ready", "RelayDisconnected", "Degraded", "RelayConnected", "Deleted",
    ]  # fmt: skip
