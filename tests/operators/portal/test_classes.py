"""TunnelClasses: which one is in force, what a change of one does, and what is said of them."""

from __future__ import annotations

from quintant.api.apps import Deployment
from quintant.api.meta import condition_of
from quintant.operators.portal.api import DEFAULT_CLASS, PortalExpose, TunnelClass
from testbeds.portal import PortalTestbed

CLASSES = "/apis/portal.gosuda.org/v1alpha1/tunnelclasses"


def container(deployment: Deployment) -> dict[str, object]:
    (found,) = deployment.spec.template.value["spec"]["containers"]
    assert isinstance(found, dict)
    return found


async def test_change_of_a_class_rolls_its_tunnels_and_says_so_once(testbed: PortalTestbed) -> None:
    await testbed.ready()
    await testbed.merge(f"{CLASSES}/small", {"spec": {"replicas": 3}})
    await testbed.cluster.eventually(
        PortalExpose,
        "shop",
        until=lambda it: bool(it.status and it.status.tunnel_pods.ready == 3),  # type: ignore[union-attr]
    )
    await testbed.merge(f"{CLASSES}/small", {"spec": {"size": "large"}})
    await testbed.cluster.advance(30)
    await testbed.phase("Ready")
    assert container(await testbed.deployment())["resources"] == {
        "requests": {"cpu": "500m", "memory": "512Mi"},
        "limits": {"cpu": "2", "memory": "2Gi"},
    }
    updated = ("Normal", "Updated", "Configuration updated, rolling update in progress")
    told = [event for event in await testbed.events() if event[1] == "Updated"]
    assert set(told) == {updated}
    assert "DriftCorrected" not in await testbed.reasons()


async def test_progressing_is_true_while_a_rolling_update_runs(testbed: PortalTestbed) -> None:
    await testbed.ready(replicas=3)
    testbed.starts = lambda pod: (
        "large" not in str(pod.metadata.labels)
        and (pod.spec.containers[0].resources.requests.get("cpu") != "500m")
    )
    await testbed.merge(f"{CLASSES}/small", {"spec": {"size": "large"}})
    await testbed.cluster.advance(10)
    found = await testbed.cluster.get(PortalExpose, "shop")
    assert found.status is not None
    progressing = condition_of(found.status.conditions, "Progressing")
    assert progressing is not None
    assert progressing.status == "True"
    assert progressing.message == "Rolling update in progress"


async def test_place_of_tunnels_follows_the_class(testbed: PortalTestbed) -> None:
    await testbed.ready()
    place = {"nodeSelector": {"zone": "a"}, "tolerations": [{"key": "edge", "operator": "Exists"}]}
    await testbed.merge(f"{CLASSES}/small", {"spec": place})
    await testbed.cluster.eventually(
        Deployment,
        "shop-tunnel",
        until=lambda it: it.spec.template.value["spec"].get("nodeSelector") == {"zone": "a"},
    )
    template = (await testbed.deployment()).spec.template.value["spec"]
    assert template["tolerations"] == place["tolerations"]
    await testbed.merge(f"{CLASSES}/small", {"spec": {"nodeSelector": None, "tolerations": None}})
    await testbed.cluster.eventually(
        Deployment,
        "shop-tunnel",
        until=lambda it: (
            not {"nodeSelector", "tolerations"} & it.spec.template.value["spec"].keys()
        ),
    )
    assert "DriftCorrected" not in await testbed.reasons()


async def test_another_default_is_followed_by_those_who_name_none(testbed: PortalTestbed) -> None:
    await testbed.ready()
    await testbed.classed("large", default=False, size="large")
    await testbed.expose("named", tunnel_class="small")
    await testbed.phase("Ready", "named")
    await testbed.merge(f"{CLASSES}/small", {"metadata": {"annotations": {DEFAULT_CLASS: None}}})
    await testbed.phase("Failed")
    mark = {"metadata": {"annotations": {DEFAULT_CLASS: "true"}}}
    await testbed.merge(f"{CLASSES}/large", mark)
    found = await testbed.phase("Ready")
    assert found.status is not None
    assert found.status.tunnel_class_name == "large"
    named = container(await testbed.deployment("named"))["resources"]
    assert named["requests"]["cpu"] == "100m"  # type: ignore[index]


async def test_of_two_defaults_the_newest_is_in_force_and_both_say_so(
    testbed: PortalTestbed,
) -> None:
    await testbed.classed("older")
    await testbed.cluster.advance(2)
    await testbed.classed("newer")
    await testbed.cluster.advance(2)
    states = {}
    for name in ("older", "newer"):
        found = await testbed.cluster.get(TunnelClass, name, "")
        assert found.status is not None
        assert found.metadata.annotations[DEFAULT_CLASS] == "true"
        states[name] = [
            held.status
            for type in ("Default", "DefaultConflict")
            if (held := condition_of(found.status.conditions, type))
        ]
    assert states == {"older": ["False", "True"], "newer": ["True", "True"]}
    told = [note for _, reason, note in await testbed.events() if reason == "MultipleDefaults"]
    assert len(told) == 2
    assert "newer, older" in told[0]


async def test_conflict_of_defaults_ends_with_its_cause(testbed: PortalTestbed) -> None:
    await testbed.classed("older")
    await testbed.cluster.advance(2)
    newer = await testbed.classed("newer")
    await testbed.cluster.advance(2)
    await testbed.cluster.client.delete(newer)
    found = await testbed.cluster.eventually(
        TunnelClass,
        "older",
        "",
        until=lambda it: condition_of(it.status.conditions, "DefaultConflict").status == "False",  # type: ignore[union-attr]
    )
    assert condition_of(found.status.conditions, "Default").status == "True"  # type: ignore[union-attr]


async def test_class_tells_which_generation_was_seen(testbed: PortalTestbed) -> None:
    made = await testbed.classed()
    await testbed.merge(f"{CLASSES}/small", {"spec": {"replicas": 2}})
    found = await testbed.cluster.eventually(
        TunnelClass,
        "small",
        "",
        until=lambda it: it.status is not None and it.status.observed_generation == 2,
    )
    assert found.metadata.generation == made.metadata.generation + 1
