"""The Deployment: restored when it is changed, made again when it is gone, never taken away."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.api.apps import Deployment, DeploymentSpec
from quintant.api.core import Container, PodSpec, PodTemplateSpec
from quintant.api.meta import LabelSelector
from quintant.core.codec import to_plain
from quintant.core.errors import Invalid
from quintant.core.object import ObjectMeta, Opaque
from quintant.operators.portal.api import PortalExpose
from quintant.operators.portal.builders import labels
from quintant.testing.faults.match import path, writes
from testbeds.portal import PortalTestbed, condition, exposing

PATH = "/apis/apps/v1/namespaces/default/deployments/shop-tunnel"
EXPOSE = "/apis/portal.gosuda.org/v1alpha1/namespaces/default/portalexposes/shop"

DEPLOYING = path(PATH) & writes
JsonObject = dict[str, Any]
EDITS: dict[str, JsonObject] = {
    "replicas": {"replicas": 5},
    "image": {"template": {"spec": {"containers": [{"name": "tunnel", "image": "evil"}]}}},
    "arguments": {"template": {"spec": {"containers": [{"name": "tunnel", "args": ["x"]}]}}},
    "a variable": {
        "template": {"spec": {"containers": [{"name": "tunnel", "env": [{"name": "A"}]}]}}
    },
    "a node": {"template": {"spec": {"nodeSelector": {"zone": "b"}}}},
    "tolerations": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}},
    "a sidecar": {"template": {"spec": {"containers": [{"name": "spy", "image": "spy"}]}}},
    "a volume": {"template": {"spec": {"volumes": [{"name": "x", "emptyDir": {}}]}}},
    "a start": {"template": {"spec": {"initContainers": [{"name": "a", "image": "b"}]}}},
    "a deadline": {"progressDeadlineSeconds": 900},
}


@pytest.mark.parametrize("edit", EDITS)
async def test_whatever_somebody_edits_is_restored(testbed: PortalTestbed, edit: str) -> None:
    await testbed.ready()
    before = to_plain(await testbed.deployment())["spec"]
    await testbed.merge(PATH, {"spec": EDITS[edit]}, "strategic-merge")
    assert to_plain(await testbed.deployment())["spec"] != before
    await testbed.cluster.advance(5)
    assert to_plain(await testbed.deployment())["spec"] == before
    await testbed.cluster.advance(30)
    reasons = await testbed.reasons()
    assert reasons.count("DriftCorrected") == 1
    assert "Updated" not in reasons


async def test_lost_deployment_is_made_again(testbed: PortalTestbed) -> None:
    await testbed.ready()
    before = await testbed.deployment()
    await testbed.cluster.client.delete(before)
    after = await testbed.cluster.eventually(
        Deployment,
        "shop-tunnel",
        until=lambda it: it.metadata.uid != before.metadata.uid,
        within=5,
    )
    await testbed.phase("Ready")
    assert after.metadata.uid != before.metadata.uid
    reasons = await testbed.reasons()
    assert reasons.count("Created") == 1
    assert reasons.count("DeploymentRecreated") == 1


def foreign(**labelled: str) -> Deployment:
    """Somebody's Deployment with the name of ours."""
    chosen = labelled or {"app": "mine"}
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=chosen),
        spec=PodSpec(containers=(Container(name="mine", image="mine"),)),
    )
    return Deployment(
        metadata=ObjectMeta(name="shop-tunnel", labels=chosen),
        spec=DeploymentSpec(
            selector=LabelSelector(match_labels=chosen), template=Opaque.of(template), replicas=2
        ),
    )


async def test_users_own_deployment_is_never_touched(testbed: PortalTestbed) -> None:
    testbed.starts = lambda _: False
    await testbed.cluster.create(foreign())
    await testbed.serve()
    await testbed.classed()
    made = await testbed.expose()
    found = await testbed.phase("Failed")
    assert condition(found, "TunnelDeploymentReady") == ("False", "DeploymentConflict")
    assert found.status is not None
    assert found.status.tunnel_pods is not None
    assert found.status.tunnel_pods.ready == 0
    await testbed.cluster.client.delete(made)
    await testbed.cluster.wait_deleted(PortalExpose, "shop")
    assert (await testbed.deployment()).metadata.generation == 1
    assert "DeploymentConflict" in await testbed.reasons()


async def test_conflict_ends_when_the_name_becomes_free(testbed: PortalTestbed) -> None:
    testbed.starts = lambda pod: pod.spec.containers[0].name == "tunnel"
    other = await testbed.cluster.create(foreign())
    await testbed.serve()
    await testbed.classed()
    await testbed.expose()
    await testbed.phase("Failed")
    await testbed.cluster.client.delete(other)
    await testbed.phase("Ready", within=30)


async def test_deployment_without_a_controller_is_adopted_by_its_labels(
    testbed: PortalTestbed,
) -> None:
    testbed.starts = lambda pod: pod.spec.containers[0].name == "tunnel"
    other = await testbed.cluster.create(foreign(**labels("shop")))
    await testbed.serve()
    await testbed.classed()
    made = await testbed.expose()
    await testbed.phase("Ready")
    found = await testbed.deployment()
    assert found.metadata.uid == other.metadata.uid
    assert [each.uid for each in found.metadata.owner_references] == [made.metadata.uid]
    names = [each["name"] for each in found.spec.template.value["spec"]["containers"]]
    assert names == ["tunnel"]


async def test_lost_owner_is_restored(testbed: PortalTestbed) -> None:
    made = await testbed.ready()
    await testbed.merge(PATH, {"metadata": {"ownerReferences": None}})
    found = await testbed.cluster.eventually(
        Deployment, "shop-tunnel", until=lambda it: bool(it.metadata.owner_references)
    )
    assert found.metadata.owner_references[0].uid == made.metadata.uid


async def test_edit_reaches_the_tunnels_and_the_public_url(testbed: PortalTestbed) -> None:
    await testbed.ready()
    await testbed.serve("other")
    change = {
        "app": {"name": "store", "service": {"name": "other", "port": 8081}},
        "relay": {"targets": [{"name": "new", "url": "wss://new.example.com:8443/relay"}]},
    }
    await testbed.merge(EXPOSE, {"spec": change})
    found = await testbed.cluster.eventually(
        PortalExpose,
        "shop",
        until=lambda it: bool(it.status and it.status.observed_generation == 2),
    )
    assert found.status is not None
    assert found.status.public_url == "https://store.new.example.com:8443"
    (container,) = (await testbed.deployment()).spec.template.value["spec"]["containers"]
    arguments = container["args"]
    assert arguments[arguments.index("--name") + 1] == "store"
    assert arguments[arguments.index("--port") + 1] == "8081"
    assert arguments[-2:] == ["--relay", "wss://new.example.com:8443/relay"]
    await testbed.phase("Ready")
    assert "Updated" in await testbed.reasons()


async def test_refused_creation_is_pending_and_tried_again(testbed: PortalTestbed) -> None:
    testbed.cluster.faults.answer(403, when=DEPLOYING, times=6)
    await testbed.serve()
    await testbed.classed()
    await testbed.expose()
    found = await testbed.phase("Pending")
    assert condition(found, "TunnelDeploymentReady") == ("False", "DeploymentCreateFailed")
    await testbed.phase("Ready")
    assert (await testbed.reasons()).count("DeploymentCreateFailed") == 1


async def test_refused_update_keeps_the_phase_and_is_tried_again(testbed: PortalTestbed) -> None:
    await testbed.ready()
    testbed.cluster.faults.answer(403, when=DEPLOYING, times=6, message="over quota")
    path = "/apis/portal.gosuda.org/v1alpha1/tunnelclasses/small"
    await testbed.merge(path, {"spec": {"replicas": 2}})
    found = await testbed.cluster.eventually(
        PortalExpose,
        "shop",
        until=lambda it: (
            condition(it, "TunnelDeploymentReady") == ("False", "DeploymentUpdateFailed")
        ),
    )
    assert found.status is not None
    assert found.status.phase == "Ready"
    await testbed.cluster.eventually(
        Deployment, "shop-tunnel", until=lambda it: it.spec.replicas == 2
    )
    await testbed.phase("Ready")


async def test_long_names_are_cut_and_still_found(testbed: PortalTestbed) -> None:
    name = "a" * 100
    await testbed.serve()
    await testbed.classed()
    await testbed.cluster.create(exposing(name, app="shop"))
    await testbed.phase("Ready", name)


async def test_duplicate_relays_are_refused_by_the_schema(testbed: PortalTestbed) -> None:
    made = to_plain(exposing(relays=2))
    for target in made["spec"]["relay"]["targets"]:
        target["name"] = "same"
    with pytest.raises(Invalid):
        await testbed.cluster.client.raw(
            "POST",
            EXPOSE.rpartition("/")[0],
            body=msgspec.json.encode(made),
        )
