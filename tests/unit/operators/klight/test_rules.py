"""Who a pod is: network, port, address, container, incarnation."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core import codec
from quintant.core.object import Request, replace
from quintant.operators.klight.api import CONTAINER, LABEL, PAUSED, PORT, PeerPod
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import (
    address_of,
    incarnation_of,
    is_own_address,
    network_of,
    object_name,
    obstacle,
    peer_container,
    port_of,
)

OPTIONS = Options()


def pod(
    *containers: dict[str, Any],
    annotations: dict[str, str] | None = None,
    ip: str = "10.0.0.1",
    label: str | None = "a",
    **status: Any,
) -> PeerPod:
    body = {
        "metadata": {
            "name": "p",
            "namespace": "ns",
            "uid": "u",
            "labels": {} if label is None else {LABEL: label},
            "annotations": annotations or {},
        },
        "spec": {
            "containers": [each for each in containers if "restartPolicy" not in each],
            "initContainers": [each for each in containers if "restartPolicy" in each],
        },
        "status": {"phase": "Running", "podIP": ip, **status},
    }
    return codec.decode(PeerPod, codec.encode(body))


def container(name: str, *ports: tuple[str, int], **more: Any) -> dict[str, Any]:
    listed = [{"name": title, "containerPort": number} for title, number in ports]
    return {"name": name, "ports": listed, **more}


def ran(name: str, life: str = "1", count: int = 0) -> dict[str, Any]:
    return {
        "name": name,
        "containerID": f"x://{life}" if life else "",
        "restartCount": count,
        "state": {"running": {}},
    }


@pytest.mark.parametrize("name", ["klightPort", "klightport", "klight-port", "klight"])
def test_every_spelling_of_the_port_is_known(name: str) -> None:
    assert port_of(pod(container("x", (name, 7000))), OPTIONS) == (7000, ())


@pytest.mark.parametrize(
    "containers",
    [
        (),
        (container("lightpeer"),),
        (container("lightpeer", ("http", 80)),),
        (container("a", ("x", 1)), container("b", ("y", 2))),
        (container("x", ("klight", 7000), restartPolicy="Never"),),
    ],
)
def test_without_a_named_port_it_is_9081(containers: tuple[Any, ...]) -> None:
    assert port_of(pod(*containers), OPTIONS) == (9081, ())


def test_of_two_named_ports_the_first_containers_counts() -> None:
    found, complaints = port_of(
        pod(container("a", ("klight", 1)), container("b", ("klight", 2))), OPTIONS
    )
    assert found == 1
    assert [each.reason for each in complaints] == ["InvalidPort"]


def test_port_of_a_sidecar_is_found() -> None:
    sidecar = container("lightpeer", ("klight", 7000), restartPolicy="Always")
    assert port_of(pod(container("app"), sidecar), OPTIONS)[0] == 7000


def test_annotation_beats_every_name() -> None:
    given = pod(container("x", ("klight", 7000)), annotations={PORT: "7001"})
    assert port_of(given, OPTIONS) == (7001, ())


@pytest.mark.parametrize("text", ["abc", "70000", "0", "-1", "", "\u0669\u0660", "1.5"])
def test_bad_annotation_is_a_complaint_and_the_next_rule_counts(text: str) -> None:
    found, complaints = port_of(
        pod(container("x", ("klight", 7000)), annotations={PORT: text}), OPTIONS
    )
    assert found == 7000
    assert [each.reason for each in complaints] == ["InvalidPort"]


def test_only_port_of_a_lightpeer_is_taken_when_asked_to() -> None:
    given = pod(container("lightpeer", ("grpc", 7000)))
    assert port_of(given, OPTIONS)[0] == 9081
    assert port_of(given, Options(infer_port=True))[0] == 7000


def test_ipv6_has_brackets_and_no_address_is_none() -> None:
    assert address_of(pod(ip="fd00::1"), OPTIONS) == "[fd00::1]:9081"
    assert address_of(pod(ip=""), OPTIONS) == ""


def test_network_is_that_of_the_namespace_unless_it_spans_all() -> None:
    assert network_of(pod(), OPTIONS) == Request("a", "ns")
    assert network_of(pod(), Options(network_scope="cluster")) == Request("a", "*")
    assert network_of(pod(label=""), OPTIONS) is None
    assert network_of(pod(label=None), OPTIONS) is None


def test_peer_is_the_annotated_the_well_known_or_the_one_with_the_port() -> None:
    both = (container("a", ("klight", 1)), container("klightpeer"))
    assert peer_container(pod(*both, annotations={CONTAINER: "a"})) == "a"
    assert peer_container(pod(*both)) == "klightpeer"
    assert peer_container(pod(container("a", ("klight", 1)))) == "a"
    assert peer_container(pod(container("a"))) == ""


def test_incarnation_follows_the_peer_and_no_other_container() -> None:
    def life(peer: str, other: str) -> str:
        statuses = [ran("lightpeer", peer), ran("app", other)]
        return incarnation_of(
            pod(container("app"), container("lightpeer"), containerStatuses=statuses)
        )

    assert life("1", "1") == life("1", "2") != life("2", "1")


def test_incarnation_without_a_known_peer_counts_restarts() -> None:
    def life(count: int) -> str:
        return incarnation_of(pod(container("x"), containerStatuses=[ran("x", "1", count)]))

    assert life(0) != life(1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (pod(phase="Pending"), "phase"),
        (pod(phase="Succeeded"), "phase"),
        (pod(ip=""), "address"),
        (pod(annotations={PAUSED: "true"}), "paused"),
        (
            pod(container("lightpeer"), containerStatuses=[{"name": "lightpeer", "state": {}}]),
            "run",
        ),
    ],
)
def test_pod_that_cannot_be_a_member_says_why(given: PeerPod, said: str) -> None:
    assert said in obstacle(given)


def test_running_pod_can_be_a_member() -> None:
    assert obstacle(pod(container("lightpeer"), containerStatuses=[ran("lightpeer")])) == ""


VALUES = st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", fullmatch=True)


@given(VALUES)
def test_every_network_has_a_name_that_the_server_takes(network: str) -> None:
    name = object_name(network)
    label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
    assert re.fullmatch(rf"{label}(\.{label})*", name)
    assert len(name) <= 63


@given(VALUES, VALUES)
def test_two_networks_never_share_a_name(one: str, other: str) -> None:
    assert (object_name(one) == object_name(other)) is (one == other)


@pytest.mark.parametrize(
    ("ip", "address", "own"),
    [
        ("10.0.0.1", "10.0.0.1:9081", True),
        ("10.0.0.1", "10.0.0.1:7", True),
        ("::1", "[::1]:7", True),
        ("10.0.0.1", "10.0.0.2:9081", False),
        ("10.0.0.1", "10.0.0.1:", False),
        ("10.0.0.1", "10.0.0.1:9081@10.0.0.2:9081", False),
        ("10.0.0.1", "dns:///10.0.0.1:9081", False),
        ("", ":9081", False),
        ("", "", False),
    ],
)
def test_only_an_address_of_the_pod_is_its_own(ip: str, address: str, own: bool) -> None:
    assert is_own_address(address, pod(ip=ip), OPTIONS) is own


def test_another_port_of_a_shared_address_is_not_the_pods_own() -> None:
    given = pod()
    shared = replace(given, spec=replace(given.spec, host_network=True))
    assert is_own_address("10.0.0.1:9081", shared, OPTIONS)
    assert not is_own_address("10.0.0.1:7", shared, OPTIONS)
