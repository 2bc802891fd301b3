from __future__ import annotations

import pytest

from quintant.api.apps import Deployment, DeploymentSpec
from quintant.api.core import (
    ConfigMap,
    Container,
    EmptyDirVolumeSource,
    Event,
    Node,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    PodTemplateSpec,
    Secret,
    Service,
    ServicePort,
    ServiceSpec,
    Volume,
)
from quintant.api.rbac import Role
from quintant.core.codec import from_plain, to_plain
from quintant.core.object import ObjectMeta, Opaque

PASSWORD = "hunter2"
STORED = {"password": "aHVudGVyMg=="}


def test_a_running_pod_is_read_as_the_server_writes_it() -> None:
    pod = from_plain(Pod, {
        "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"containers": [{"name": "main", "ports": [{"containerPort": 80}]}]},
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.7",
            "podIPs": [{"ip": "10.0.0.7"}],
            "conditions": [
                {"type": "Ready", "status": "True", "lastProbeTime": None,
                 "lastTransitionTime": "2026-01-01T00:00:01Z"},
            ],
            "containerStatuses": [
                {"name": "main", "ready": True, "restartCount": 2, "lastState": {},
                 "containerID": "containerd://1", "image": "i", "imageID": "i@sha",
                 "state": {"running": {"startedAt": "2026-01-01T00:00:01Z"}}},
            ],
        },
    })  # fmt: skip
    assert pod.ready
    assert pod.status.pod_ip == "10.0.0.7"
    assert pod.spec.containers[0].ports[0].container_port == 80
    status = pod.status.container_statuses[0]
    assert status.container_id == "containerd://1"
    assert status.state.running is not None
    assert status.last_state.terminated is None


def test_a_pod_without_the_condition_is_not_ready() -> None:
    assert not Pod().ready


def test_empty_objects_that_mean_something_are_sent() -> None:
    pod = Pod(
        metadata=ObjectMeta(name="a"),
        spec=PodSpec(
            containers=(Container(name="main"),),
            volumes=(Volume(name="scratch", empty_dir=EmptyDirVolumeSource()),),
        ),
    )
    assert to_plain(pod)["spec"] == {
        "containers": [{"name": "main"}],
        "volumes": [{"name": "scratch", "emptyDir": {}}],
    }


def test_numbers_and_names_of_ports_both_fit() -> None:
    ports = (ServicePort(port=80, target_port=8080), ServicePort(port=81, target_port="metrics"))
    service = Service(spec=ServiceSpec(cluster_ip="None", ports=ports))
    assert to_plain(service)["spec"] == {
        "clusterIP": "None",
        "ports": [{"port": 80, "targetPort": 8080}, {"port": 81, "targetPort": "metrics"}],
    }


def test_an_empty_storage_class_differs_from_the_default_one() -> None:
    claim = from_plain(PersistentVolumeClaim, {"spec": {"storageClassName": ""}})
    assert claim.spec.storage_class_name == ""
    assert to_plain(claim)["spec"] == {"storageClassName": ""}


def test_fields_of_a_template_that_we_do_not_model_survive() -> None:
    template = {"spec": {"containers": [{"name": "a", "resizePolicy": [{"x": 1}]}]}}
    deployment = from_plain(Deployment, {"spec": {"template": template}})
    assert to_plain(deployment)["spec"]["template"] == template


def test_a_template_is_made_from_typed_parts() -> None:
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels={"app": "a"}), spec=PodSpec(containers=(Container(name="a"),))
    )
    deployment = Deployment(spec=DeploymentSpec(template=Opaque.of(template)))
    assert to_plain(deployment)["spec"] == {
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {"containers": [{"name": "a"}]},
        }
    }


def test_a_secret_shows_its_keys_and_never_its_values() -> None:
    secret = Secret(
        metadata=ObjectMeta(name="login", namespace="shop", annotations={"x": PASSWORD}),
        data=STORED,
        string_data={"token": PASSWORD},
    )
    for shown in (repr(secret), str(secret), f"{secret}", repr([secret]), repr({"s": secret})):
        assert PASSWORD not in shown
        assert STORED["password"] not in shown
    assert repr(secret) == "Secret(name='shop/login', keys=['password', 'token'], type='')"
    assert PASSWORD not in str(list(secret.__rich_repr__()))


def test_a_secret_is_revealed_on_purpose() -> None:
    secret = Secret(data=STORED, string_data={"token": "abc"})
    assert secret.reveal("password") == PASSWORD.encode()
    assert secret.reveal("token") == b"abc"
    with pytest.raises(KeyError, match="other"):
        secret.reveal("other")


def test_secrets_travel_whole() -> None:
    assert to_plain(Secret(data=STORED))["data"] == STORED


def test_nulls_the_server_writes_are_read() -> None:
    assert from_plain(Role, {"metadata": {"name": "a"}, "rules": None}).rules is None
    event = from_plain(Event, {"firstTimestamp": None, "lastTimestamp": None, "eventTime": None})
    assert event.first_timestamp is None


def test_node_conditions_keep_their_heartbeat() -> None:
    beat = "2026-01-01T00:00:00Z"
    node = from_plain(Node, {"status": {"conditions": [
        {"type": "Ready", "status": "True", "lastHeartbeatTime": beat},
    ]}})  # fmt: skip
    assert node.status.conditions[0].last_heartbeat_time == beat


def test_absent_maps_are_empty_rather_than_none() -> None:
    assert from_plain(ConfigMap, {"metadata": {"name": "a"}}).data == {}
