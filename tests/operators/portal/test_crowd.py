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
from testbeds.portal import Town, opened

MANY = 100
CLASSES = "/apis/portal.gosuda.org/v1alpha1/tunnelclasses"


def name(number: int) -> str:
    return f"shop-{number:03}"


async def crowd(town: Town) -> None:
    """A hundred PortalExposes, created at once."""
    town.step = 0.5
    await town.serve()
    await town.classed()
    await asyncio.gather(*(town.expose(name(at)) for at in range(MANY)))


async def phases(town: Town) -> set[str | None]:
    found = await town.cluster.client.list(PortalExpose)
    assert len(found) == MANY
    return {each.status.phase if each.status else None for each in found}


async def test_hundred_at_once_start_soon_and_follow_their_class_within_ten_seconds(
    town: Town,
) -> None:
    await crowd(town)
    await town.cluster.advance(5)
    pods = await town.cluster.client.list(Pod)
    assert len(pods) == MANY
    assert all(each.status.container_statuses for each in pods)
    await town.cluster.advance(5)
    assert await phases(town) == {"Ready"}
    assert len(await town.cluster.client.list(Deployment)) == MANY
    reasons = await town.reasons()
    assert reasons.count("Created") == reasons.count("Ready") == MANY
    assert town.engine is not None
    assert town.engine.idle

    await town.merge(f"{CLASSES}/small", {"spec": {"size": "large"}})
    await town.cluster.advance(10)
    for each in await town.cluster.client.list(Deployment):
        (container,) = each.spec.template.value["spec"]["containers"]
        assert container["resources"]["requests"]["cpu"] == "500m"
    assert await phases(town) == {"Ready"}
    assert (await town.reasons()).count("Updated") == MANY


async def test_resync_looks_at_everything_once_and_writes_nothing() -> None:
    period = 5.0
    async with opened(Options(resync_period=period)) as town:
        await town.ready()
        before, written = _passes(town), len(town.cluster.faults.seen(writes))
        rounds = 40
        await town.cluster.advance(rounds * period)
        assert rounds * 0.85 <= _passes(town) - before <= rounds * 1.15
        assert len(town.cluster.faults.seen(writes)) == written


def _passes(town: Town) -> float:
    assert town.engine is not None
    text = town.engine.metrics.render().decode()
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "portalexpose_reconcile_total"
    )


async def test_refused_creations_wait_ever_longer_and_hinder_nobody(town: Town) -> None:
    refused = path("/apis/apps/v1/namespaces/default/deployments/poor-tunnel") & writes
    with town.cluster.faults.answer(403, when=refused, message="over quota"):
        await town.serve()
        await town.classed()
        await town.expose("poor")
        await town.expose("rich")
        await town.phase("Ready", "rich")
        await town.cluster.advance(90)
        tries = [sent.at for sent in town.cluster.faults.seen(refused)]
    gaps = [after - before for before, after in pairwise(tries)]
    # What else wakes it, such as its own status, may come in between at first.
    doubling = [gap for gap in gaps if gap > 0.1]
    assert len(doubling) > 5
    assert all(1.9 < after / before < 2.1 for before, after in pairwise(doubling))
    assert min(gaps) < 0.02
    await town.phase("Ready", "poor", within=120)
    assert (await town.reasons()).count("DeploymentCreateFailed") == 1


async def test_of_two_defaults_every_restart_chooses_the_same(town: Town) -> None:
    await town.classed("older", size="large")
    await town.cluster.advance(2)
    await town.classed("newer")
    await town.serve()
    await town.expose()
    await town.phase("Ready")
    before = await town.deployment()
    for _ in range(20):
        assert town.engine is not None
        await town.cluster.crash(town.engine)
        await town.start()
        await town.cluster.advance(2)
        found = await town.cluster.get(PortalExpose, "shop")
        assert found.status is not None
        assert found.status.tunnel_class_name == "newer"
    assert (await town.deployment()).metadata.resource_version == before.metadata.resource_version
    for chosen in ("older", "newer"):
        standing = await town.cluster.get(TunnelClass, chosen, "")
        assert standing.status is not None
        conflict = condition_of(standing.status.conditions, "DefaultConflict")
        assert conflict is not None
        assert conflict.status == "True"
    assert (await town.reasons()).count("MultipleDefaults") == 2


async def test_life_is_told_in_legal_events_and_rest_in_none(town: Town) -> None:
    found = await town.ready(relays=2)
    town.down = {"wss://r1.example.com/relay"}
    await town.phase("Degraded")
    town.down = set()
    await town.phase("Ready")
    await town.cluster.advance(5)
    told = await town.events()
    assert town.engine is not None
    for _ in range(20):
        town.engine.controllers[0].queue.add(Request("shop", "default"))
        await town.cluster.advance(5)
    assert await town.events() == told
    await town.cluster.client.delete(found)
    await town.cluster.gone(PortalExpose, "shop")
    told = await town.events()
    assert {type for type, _, _ in told} == {"Normal", "Warning"}
    # The second Ready is counted with the first.
    assert [reason for _, reason, _ in told] == [
        "Created", "Ready", "RelayDisconnected", "Degraded", "RelayConnected", "Deleted",
    ]  # fmt: skip
