"""Which nodes a pod fits, and how the others refuse it."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.core import NodeSelector
from quintant.cluster.common.labels import SIMULATED
from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.filter import (
    CORDONED,
    PRETENDING,
    TAINTED,
    UNREACHABLE,
    UNWANTED,
    NodeFilter,
)
from quintant.cluster.scheduler.node_info import FULL, PORTS
from quintant.cluster.scheduler.pod_affinity_spread import (
    CROWDED,
    ELSEWHERE,
    SPREAD,
    UNLABELLED,
    UNWELCOME,
)
from quintant.cluster.scheduler.pod_info import VolumeTopology
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from quintant.core import codec
from unit.cluster.scheduler.samples import node, pod, pod_info, snapshot

WEB = {"matchLabels": {"app": "web"}}
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def names(on: NodeSnapshot, given: PodView, **more: Any) -> list[str]:
    return [info.name for info in NodeFilter(on).feasible_nodes(pod_info(given, **more)).nodes]


def reasons(on: NodeSnapshot, given: PodView, **more: Any) -> dict[str, int]:
    return dict(NodeFilter(on).feasible_nodes(pod_info(given, **more)).reasons)


def affinity(**terms: Any) -> dict[str, Any]:
    return {
        kind: {"requiredDuringSchedulingIgnoredDuringExecution": given}
        for kind, given in terms.items()
    }


def test_node_selector_chooses_by_labels() -> None:
    given = snapshot(node("a", labels={"disk": "ssd"}), node("b"))
    assert names(given, pod("p", nodeSelector={"disk": "ssd"})) == ["a"]
    assert reasons(given, pod("p", nodeSelector={"disk": "tape"})) == {UNWANTED: 2}


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["1", "2"], ["a"]),
        ("NotIn", ["1"], ["b", "c"]),
        ("Exists", [], ["a", "b"]),
        ("DoesNotExist", [], ["c"]),
        ("Gt", ["4"], ["b"]),
        ("Lt", ["4"], ["a"]),
    ],
)
def test_node_affinity_knows_six_operators(
    operator: str, values: list[str], fits: list[str]
) -> None:
    given = snapshot(node("a", labels={"n": "1"}), node("b", labels={"n": "5"}), node("c"))
    term = {"matchExpressions": [{"key": "n", "operator": operator, "values": values}]}
    wants = affinity(nodeAffinity={"nodeSelectorTerms": [term]})
    assert names(given, pod("p", affinity=wants)) == fits


def test_match_fields_pins_a_pod_to_one_node() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    wants = affinity(nodeAffinity={"nodeSelectorTerms": [term]})
    assert names(snapshot(node("a"), node("b")), pod("p", affinity=wants)) == ["b"]


def test_taint_keeps_pods_away_that_do_not_tolerate_it() -> None:
    taint = {"key": "role", "value": "db", "effect": "NoSchedule"}
    given = snapshot(node("a", taints=[taint]))
    assert reasons(given, pod("p")) == {TAINTED: 1}
    equal = {"key": "role", "operator": "Equal", "value": "db", "effect": "NoSchedule"}
    assert names(given, pod("p", tolerations=[equal])) == ["a"]
    assert names(given, pod("p", tolerations=[{"operator": "Exists"}])) == ["a"]
    other = {"key": "role", "operator": "Equal", "value": "web"}
    assert names(given, pod("p", tolerations=[other])) == []


def test_cordoned_node_takes_only_pods_that_tolerate_it() -> None:
    given = snapshot(node("a", unschedulable=True))
    assert reasons(given, pod("p")) == {CORDONED: 1}
    tolerated = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    assert names(given, pod("p", tolerations=[tolerated])) == ["a"]


def test_requests_are_held_against_what_is_left() -> None:
    given = snapshot(node("a", cpu="1"), pods=(pod("x", on="a", cpu="600m"),))
    assert names(given, pod("p", cpu="400m")) == ["a"]
    assert reasons(given, pod("p", cpu="500m")) == {"Insufficient cpu": 1}


def test_every_thing_that_is_lacking_is_named() -> None:
    given = snapshot(node("a", cpu="1", memory="1Gi", gpus="1"))
    asks = pod("p", requests={"cpu": "2", "memory": "2Gi", "example.com/gpu": "2"})
    assert set(reasons(given, asks)) == {
        "Insufficient cpu",
        "Insufficient memory",
        "Insufficient example.com/gpu",
    }


def test_node_takes_no_more_pods_than_it_says() -> None:
    given = snapshot(node("a", pods="1"), pods=(pod("x", on="a"),))
    assert reasons(given, pod("p")) == {FULL: 1}


def test_ended_pod_makes_room() -> None:
    ended = codec.from_plain(
        PodView, {**codec.to_plain(pod("x", on="a", cpu="1")), "status": {"phase": "Succeeded"}}
    )
    given = snapshot(node("a", cpu="1"), pods=(pod("x", on="a", cpu="1"),))
    assert names(given, pod("p", cpu="1")) == []
    given.sync([node("a", cpu="1")], [ended])
    assert names(given, pod("p", cpu="1")) == ["a"]


def test_greediest_init_container_counts_if_it_asks_for_more() -> None:
    first = {"name": "i", "resources": {"requests": {"cpu": "3"}}}
    given = snapshot(node("a", cpu="2"), node("b", cpu="4"))
    assert names(given, pod("p", cpu="1", initContainers=[first])) == ["b"]


def test_sidecar_is_counted_beside_the_containers() -> None:
    side = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
    given = snapshot(node("a", cpu="1"), node("b", cpu="2"))
    assert names(given, pod("p", cpu="1", initContainers=[side])) == ["b"]


def test_host_port_is_had_once_per_node() -> None:
    port = {"containerPort": 80, "hostPort": 80}
    given = snapshot(node("a"), pods=(pod("x", on="a", ports=[port]),))
    assert reasons(given, pod("p", ports=[port])) == {PORTS: 1}
    assert names(given, pod("p", ports=[{**port, "protocol": "UDP"}])) == ["a"]


def test_pod_affinity_goes_where_its_friends_are() -> None:
    nodes = (node("a", labels={ZONE: "z1"}), node("b", labels={ZONE: "z1"}), node("c"))
    given = snapshot(*nodes, pods=(pod("x", on="a", labels={"app": "web"}),))
    wants = affinity(podAffinity=[{"topologyKey": ZONE, "labelSelector": WEB}])
    assert names(given, pod("p", affinity=wants)) == ["a", "b"]
    assert reasons(given, pod("p", affinity=wants, namespace="other"))[ELSEWHERE] == 3


def test_first_pod_of_a_group_needs_no_friend() -> None:
    wants = affinity(podAffinity=[{"topologyKey": HOST, "labelSelector": WEB}])
    assert names(snapshot(node("a")), pod("p", labels={"app": "web"}, affinity=wants)) == ["a"]


def test_anti_affinity_keeps_replicas_apart() -> None:
    wants = affinity(podAntiAffinity=[{"topologyKey": HOST, "labelSelector": WEB}])
    placed = pod("x", on="a", labels={"app": "web"})
    given = snapshot(node("a"), node("b"), pods=(placed,))
    one = pod("p", labels={"app": "web"}, affinity=wants)
    assert names(given, one) == ["b"]
    assert reasons(given, one) == {CROWDED: 1}


def test_pod_keeps_others_away_who_do_not_mind_it() -> None:
    wants = affinity(podAntiAffinity=[{"topologyKey": HOST, "labelSelector": WEB}])
    given = snapshot(node("a"), node("b"), pods=(pod("x", on="a", affinity=wants),))
    assert names(given, pod("p", labels={"app": "web"})) == ["b"]
    assert reasons(given, pod("p", labels={"app": "web"})) == {UNWELCOME: 1}


def test_spread_holds_the_skew_between_zones() -> None:
    nodes = (node("a", labels={ZONE: "z1"}), node("b", labels={ZONE: "z2"}), node("c"))
    placed = tuple(pod(f"x{n}", on="a", labels={"app": "web"}) for n in range(2))
    rule = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": WEB,
    }
    one = pod("p", labels={"app": "web"}, topologySpreadConstraints=[rule])
    given = snapshot(*nodes, pods=placed)
    assert names(given, one) == ["b"]
    assert reasons(given, one) == {SPREAD: 1, UNLABELLED: 1}


def test_too_few_domains_count_as_an_empty_one() -> None:
    rule = {
        "maxSkew": 1,
        "minDomains": 2,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": WEB,
    }
    given = snapshot(
        node("a", labels={ZONE: "z1"}), pods=(pod("x", on="a", labels={"app": "web"}),)
    )
    one = pod("p", labels={"app": "web"}, topologySpreadConstraints=[rule])
    assert reasons(given, one) == {SPREAD: 1}


def test_volume_is_reached_from_its_own_nodes() -> None:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z1"]}]}
    given = snapshot(node("a", labels={ZONE: "z1"}), node("b", labels={ZONE: "z2"}))
    terms = codec.decoder(NodeSelector).decode(codec.encode({"nodeSelectorTerms": [term]}))
    found = NodeFilter(given).feasible_nodes(pod_info(pod("p")), VolumeTopology((terms,)))
    assert [info.name for info in found.nodes] == ["a"]
    assert found.reasons == {UNREACHABLE: 1}


def test_pod_of_a_real_image_stays_off_simulated_nodes() -> None:
    given = snapshot(node("local"), node("sim-0001", labels={SIMULATED: "true"}))
    assert names(given, pod("p")) == ["local", "sim-0001"]
    assert names(given, pod("p"), real=True) == ["local"]
    assert reasons(given, pod("p"), real=True) == {PRETENDING: 1}


def test_pod_that_asks_for_a_simulated_node_gets_it() -> None:
    given = snapshot(node("local"), node("sim-0001", labels={SIMULATED: "true"}))
    asks = pod("p", nodeSelector={HOST: "sim-0001"})
    assert names(given, asks, real=True) == ["sim-0001"]


def test_answer_for_a_shape_follows_the_nodes() -> None:
    given = snapshot(node("a"))
    fit = NodeFilter(given)
    assert [info.name for info in fit.feasible_nodes(pod_info(pod("p"))).nodes] == ["a"]
    given.sync([node("a", unschedulable=True), node("b")], [])
    assert [info.name for info in fit.feasible_nodes(pod_info(pod("p"))).nodes] == ["b"]
