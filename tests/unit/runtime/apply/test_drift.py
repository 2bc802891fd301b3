"""Drift is seen whatever it is, and nothing that the server fills in is taken for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from quintant.api.apps import Deployment, DeploymentSpec, DeploymentStrategy
from quintant.api.core import (
    ConfigMap,
    Container,
    EnvVar,
    HTTPGetAction,
    PodSecurityContext,
    PodSpec,
    PodTemplateSpec,
    Probe,
    ResourceRequirements,
    Service,
    ServicePort,
    ServiceSpec,
    Volume,
    VolumeMount,
)
from quintant.api.quantity import Quantity
from quintant.core.codec import from_plain, to_plain
from quintant.core.object import ObjectMeta, Opaque
from quintant.runtime.apply.drift import covers, drifted, strays
from testbeds.call_counter import counted_calls

TEMPLATE = "/spec/template/spec"


def wanted() -> Deployment:
    container = Container(
        name="main",
        image="t",
        args=("serve", "--port", "80"),
        env=(EnvVar(name="MODE", value="calm"),),
        liveness_probe=Probe(http_get=HTTPGetAction(path="/healthz", port=80)),
        readiness_probe=Probe(http_get=HTTPGetAction(path="/readyz", port=80)),
        resources=ResourceRequirements(limits={"cpu": Quantity("1000m")}),
        volume_mounts=(VolumeMount(name="ca", mount_path="/ca"),),
    )
    pod = PodSpec(
        containers=(container,),
        volumes=(Volume(name="ca", projected=Opaque.of({"sources": []})),),
        security_context=PodSecurityContext(run_as_non_root=True),
        termination_grace_period_seconds=15,
    )
    return Deployment(
        metadata=ObjectMeta(name="web", namespace="n", labels={"app": "web"}),
        spec=DeploymentSpec(
            replicas=1,
            strategy=DeploymentStrategy(type="RollingUpdate"),
            template=Opaque.of(PodTemplateSpec(spec=pod)),
        ),
    )


def live(**changes: Any) -> Deployment:
    """What a server makes of it: defaults filled in, amounts written its way."""
    plain = to_plain(wanted())
    plain["metadata"]["resourceVersion"] = "7"
    plain["spec"] |= {"minReadySeconds": 0, "paused": False}
    pod = plain["spec"]["template"]["spec"]
    pod |= {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "x"}
    (container,) = pod["containers"]
    container |= {"imagePullPolicy": "Always", "terminationMessagePath": "/dev/log"}
    container["resources"]["limits"]["cpu"] = "1"
    container["livenessProbe"]["successThreshold"] = 1
    pod["volumes"][0]["projected"]["defaultMode"] = 420
    container |= changes.pop("container", {})
    pod["containers"] = [*changes.pop("before", []), container]
    pod |= changes.pop("pod", {})
    plain["spec"] |= changes
    return from_plain(Deployment, plain)


def test_what_the_server_fills_in_is_no_drift() -> None:
    assert not drifted(live(), wanted())
    assert strays(live(), wanted()) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"replicas": 9},
        {"container": {"image": "evil"}},
        {"container": {"args": ["expose"]}},
        {"container": {"resources": {}}},
        {"container": {"readinessProbe": None}},
        {"container": {"env": []}},
        {"pod": {"securityContext": {}}},
        {"pod": {"terminationGracePeriodSeconds": 1}},
        {"strategy": {"type": "Recreate"}},
    ],
    ids=str,
)
def test_changed_field_is_drift(changes: dict[str, Any]) -> None:
    assert drifted(live(**changes), wanted())


def test_lost_label_is_drift() -> None:
    plain = to_plain(live())
    plain["metadata"]["labels"].popitem()
    assert drifted(from_plain(Deployment, plain), wanted())


def test_what_nobody_asked_for_is_removed_from_the_end() -> None:
    spy = {"name": "spy", "image": "spy"}
    variable = {"name": "HTTP_PROXY", "value": "evil"}
    env = to_plain(live())["spec"]["template"]["spec"]["containers"][0]["env"]
    found = strays(
        live(
            before=[spy, {"name": "spy2", "image": "spy"}],
            container={"env": [variable, *env], "envFrom": [{}]},
            pod={"nodeSelector": {"a": "b"}, "initContainers": [spy]},
        ),
        wanted(),
    )
    assert found[0] == {"op": "test", "path": "/metadata/resourceVersion", "value": "7"}
    assert [each["path"] for each in found[1:]] == [
        f"{TEMPLATE}/nodeSelector",
        f"{TEMPLATE}/containers/1",
        f"{TEMPLATE}/containers/0",
        f"{TEMPLATE}/initContainers",
        f"{TEMPLATE}/containers/0/envFrom",
        f"{TEMPLATE}/containers/0/env/0",
    ]


def test_every_container_of_ours_is_looked_at_where_it_will_stand() -> None:
    def holding(*containers: Container) -> Deployment:
        template = Opaque.of(PodTemplateSpec(spec=PodSpec(containers=containers)))
        return Deployment(spec=DeploymentSpec(template=template))

    first, second = Container(name="a", image="a"), Container(name="b", image="b")
    spy = Container(name="spy", image="spy")
    told = Container(name="b", image="b", command=("sh",))
    found = strays(holding(first, spy, told), holding(first, second))
    paths = [each["path"] for each in found[1:]]
    assert paths == [f"{TEMPLATE}/containers/1", f"{TEMPLATE}/containers/1/command"]


def test_other_kinds_drift_too() -> None:
    config = ConfigMap(metadata=ObjectMeta(name="c"), data={"a": "1"})
    assert not drifted(ConfigMap(metadata=ObjectMeta(name="c"), data={"a": "1", "b": "2"}), config)
    assert drifted(ConfigMap(metadata=ObjectMeta(name="c"), data={"a": "2"}), config)
    service = Service(spec=ServiceSpec(ports=(ServicePort(port=80),)))
    assert drifted(Service(spec=ServiceSpec(ports=(ServicePort(port=81),))), service)
    two = (ServicePort(port=79), ServicePort(port=80))
    assert not drifted(Service(spec=ServiceSpec(ports=two)), service)


plain = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=3),
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(some.sampled_from(["name", "a", "b"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
def test_everything_covers_itself_unless_names_repeat(value: Any) -> None:
    if not _repeats(value):
        assert covers(value, value)


def _repeats(value: Any) -> bool:
    """Whether two members of a list have one name, or an odd one: no server has them."""
    if isinstance(value, dict):
        return any(map(_repeats, value.values()))
    if not isinstance(value, list):
        return False
    names = [str(each.get("name")) for each in value if isinstance(each, dict) and "name" in each]
    odd = any(
        isinstance(each, dict) and "name" in each and not isinstance(each["name"], str)
        for each in value
    )
    return odd or len(set(names)) < len(names) or any(map(_repeats, value))


def test_ports_that_share_a_number_have_not_drifted() -> None:
    ports = [{"containerPort": 53, "protocol": each} for each in ("TCP", "UDP")]
    assert covers({"ports": ports, "image": "dns"}, {"ports": list(ports)})


def test_a_part_that_is_as_wanted_is_compared_at_once() -> None:
    want = {"env": [{"name": f"n{at}", "value": str(at)} for at in range(100)]}
    with counted_calls() as counter:
        assert covers({**want, "imagePullPolicy": "Always"}, want)
    assert counter.calls < 100
