"""Bad input and faults: told once with what to do, nothing is lost, and the operator lives."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.core import ConfigMap, Service, ServicePort, ServiceSpec
from quintant.api.meta import Condition, condition_of
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.testing.faults.match import path, writes
from testbeds.cosmos import NAMESPACE, CosmosTestbed, full_node

BAD: list[tuple[dict[str, Any], str]] = [
    ({"chain": {"config": {"overrides": "[p2p"}}}, "spec.chain.config.overrides"),
    ({"chain": {"versions": [{"height": 5, "image": "a"}, {"height": 5, "image": "b"}]}},
     "spec.chain.versions[1].height"),
    ({"podTemplate": {"image": None}}, "spec.podTemplate.image"),
    ({"strategy": {"maxUnavailable": "abc"}}, "spec.strategy.maxUnavailable"),
    ({"podTemplate": {"containers": [{"image": "x"}]}}, "spec.podTemplate.containers[0].name"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "field"), BAD)
async def test_a_spec_that_makes_no_sense_is_told_and_children_stay(
    testbed: CosmosTestbed, change: dict[str, Any], field: str
) -> None:
    await testbed.run(replicas=2)
    owned = await testbed.owned()
    await testbed.change(change)
    found = await testbed.phase("Error")
    assert found.status is not None
    assert field in (found.status.status or "")
    await testbed.cluster.advance(400)
    assert await testbed.owned() == owned
    assert testbed.deleted == []
    assert (await testbed.reasons()).count("Error") == 1
    await testbed.apply(full_node(replicas=2))
    undone = {key: None for key in change if key in ("strategy",)}
    if undone or "chain" in change or "podTemplate" in change:
        await testbed.change({**undone, **_reverted(change)})
    await testbed.settled()


def _reverted(change: dict[str, Any]) -> dict[str, Any]:
    if "chain" in change:
        return {"chain": {"config": None, "versions": None}}
    if "podTemplate" in change:
        return {"podTemplate": {"image": "gaia:v1.2.3", "containers": None}}
    return {}


@pytest.mark.parametrize(
    "change",
    [{"chain": {"config": {"peers": "nobody"}}}, {"instanceOverrides": {"other-1": {"image": "x"}}},
     {"instanceOverrides": {"hub-1": {"disable": "All|Pod"}}}],
)  # fmt: skip
async def test_what_is_probably_not_meant_is_told_and_the_rest_works(
    testbed: CosmosTestbed, change: dict[str, Any]
) -> None:
    await testbed.run(replicas=2)
    await testbed.change(change)
    await testbed.phase("Complete")
    assert (await testbed.reasons()).count("SpecWarning") == 1


async def test_a_damaged_node_key_is_never_made_anew(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    config = await testbed.cluster.get(ConfigMap, "hub-1", NAMESPACE)
    good = config.data["node_key.json"]
    where = f"/api/v1/namespaces/{NAMESPACE}/configmaps/hub-1"
    await testbed.merge(where, {"data": {"node_key.json": "nonsense"}})
    found = await testbed.phase("Error")
    assert found.status is not None
    assert "node_key.json of ConfigMap hub-1 is damaged" in (found.status.status or "")
    await testbed.cluster.advance(400)
    assert (await testbed.data("hub-1"))["node_key.json"] == "nonsense"
    assert testbed.deleted == []
    await testbed.merge(where, {"data": {"node_key.json": good}})
    await testbed.settled()
    assert good not in repr(await testbed.events())


async def test_identities_survive_everything(testbed: CosmosTestbed) -> None:
    async def keys() -> list[str]:
        return [(await testbed.data(f"hub-{at}"))["node_key.json"] for at in range(3)]

    await testbed.run(replicas=3)
    before = await keys()
    await testbed.change({"replicas": 1})
    await testbed.cluster.advance(30)
    await testbed.change({"replicas": 3})
    await testbed.settled()
    for pod in (await testbed.pods()).values():
        await testbed.cluster.client.delete(pod, grace=0)
    await testbed.crash()
    await testbed.start()
    await testbed.settled()
    assert await keys() == before


async def test_a_child_of_somebody_else_is_named_and_untouched(testbed: CosmosTestbed) -> None:
    spec = ServiceSpec(ports=(ServicePort(port=80),), selector={"a": "b"})
    meta = ObjectMeta(name="hub-rpc", namespace=NAMESPACE)
    mine = await testbed.cluster.create(Service(metadata=meta, spec=spec))
    await testbed.apply(full_node(replicas=1))
    found = await testbed.phase("Error")
    assert found.status is not None
    assert "hub-rpc exists and belongs to no controller" in (found.status.status or "")
    after = await testbed.cluster.get(Service, "hub-rpc", NAMESPACE)
    assert after.metadata.resource_version == mine.metadata.resource_version


async def test_what_the_server_forbids_is_told_in_its_words(testbed: CosmosTestbed) -> None:
    await testbed.apply(full_node(replicas=1, pod={"priorityClassName": "name-of-priority-class"}))
    found = await testbed.phase("TransientError")
    assert found.status is not None
    assert "name-of-priority-class" in (found.status.status or "")
    await testbed.cluster.advance(120)
    assert (await testbed.reasons()).count("ErrorTransient") == 1


@pytest.mark.parametrize("code", [409, 429, 500])
async def test_after_faults_the_state_is_the_same(testbed: CosmosTestbed, code: int) -> None:
    await testbed.run(replicas=2)
    for _ in range(5):
        with testbed.cluster.faults.answer(code, when=path(f"*/{NAMESPACE}/*") & writes, times=3):
            await testbed.change({"podTemplate": {"image": f"gaia:v{code}"}})
            await testbed.cluster.advance(20)
    await testbed.settled(within=3000)
    assert set(await testbed.pods()) == {"hub-0", "hub-1"}
    assert sorted(name for _, name in testbed.deleted) == ["hub-0", "hub-1"]


async def test_a_watch_that_is_cut_makes_no_pod_twice(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    for _ in range(5):
        testbed.cluster.faults.cut()
        pod = (await testbed.pods())["hub-1"]
        await testbed.cluster.client.delete(pod, grace=0)
        await testbed.cluster.advance(20)
    await testbed.settled()
    assert set(await testbed.pods()) == {"hub-0", "hub-1", "hub-2"}
    assert testbed.deleted == []


async def degraded(testbed: CosmosTestbed, status: str) -> Condition:
    """The condition Degraded, once it has this status."""

    def holds(it: CosmosFullNode) -> bool:
        told = condition_of(it.status.conditions if it.status else (), "Degraded")
        return told is not None and told.status == status

    found = await testbed.until(holds, within=120)
    assert found.status is not None
    told = condition_of(found.status.conditions, "Degraded")
    assert told is not None
    return told


async def test_a_node_that_ends_again_and_again_is_told_with_its_last_words(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=2)
    node = testbed.node("hub-1")
    node.crashes, node.restarts = "panic: wrong app hash", 4
    told = await degraded(testbed, "True")
    assert told.reason == "PodsFailing"
    assert "hub-1 node: CrashLoopBackOff: panic: wrong app hash" in told.message
    assert (await testbed.reasons()).count("PodsFailing") == 1
    node.crashes = ""
    await degraded(testbed, "False")
    await testbed.settled()


async def test_an_image_that_cannot_be_pulled_is_told(testbed: CosmosTestbed) -> None:
    testbed.images = lambda _: False
    await testbed.apply(full_node(replicas=1))
    told = await degraded(testbed, "True")
    assert told.reason == "PodsFailing"
    assert "hub-0 node: ImagePullBackOff" in told.message


async def test_a_pod_that_the_server_refuses_is_in_phase_and_conditions(
    testbed: CosmosTestbed,
) -> None:
    why = 'pods "hub-0" is forbidden: violates PodSecurity "restricted:latest"'
    refused = path(f"*/namespaces/{NAMESPACE}/pods*") & writes
    with testbed.cluster.faults.answer(403, message=why, when=refused):
        await testbed.apply(full_node(replicas=1))
        told = await degraded(testbed, "True")
        assert (told.reason, why in told.message) == ("ErrorTransient", True)
        found = await testbed.phase("TransientError")
        assert found.status is not None
        progress = condition_of(found.status.conditions, "Progressing")
        assert progress is not None
        assert (progress.status, progress.reason) == ("True", "Retrying")
        assert why in (found.status.status or "")
    await degraded(testbed, "False")
    await testbed.settled()


async def test_nothing_is_called_settled_while_the_spec_makes_no_sense(
    testbed: CosmosTestbed,
) -> None:
    await testbed.apply(full_node(replicas=1, strategy={"maxUnavailable": "abc"}))
    found = await testbed.phase("Error")
    assert found.status is not None
    progress = condition_of(found.status.conditions, "Progressing")
    assert progress is not None
    assert (progress.status, progress.reason) == ("False", "Blocked")
