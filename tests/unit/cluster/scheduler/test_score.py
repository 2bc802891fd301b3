"""Which of several nodes is chosen."""

from __future__ import annotations

from collections import Counter
from typing import Any

from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.filter import NodeFilter
from quintant.cluster.scheduler.score import select_host
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from quintant.core.clock import Random
from unit.cluster.scheduler.samples import node, pod, pod_info, snapshot

WEB = {"matchLabels": {"app": "web"}}
HOST = "kubernetes.io/hostname"


def chosen(given: NodeSnapshot, one: PodView, seed: int = 0) -> str:
    info = pod_info(one)
    infos = NodeFilter(given).feasible_nodes(info).nodes
    return select_host(given, info, infos, Random(seed)).name


def preferred(**terms: Any) -> dict[str, Any]:
    return {
        kind: {"preferredDuringSchedulingIgnoredDuringExecution": given}
        for kind, given in terms.items()
    }


def test_emptier_node_is_better() -> None:
    given = snapshot(node("a"), node("b"), pods=(pod("x", on="a", cpu="1"),))
    assert chosen(given, pod("p", cpu="1")) == "b"


def test_pods_that_ask_for_nothing_are_spread_all_the_same() -> None:
    given = snapshot(node("a"), node("b"), pods=(pod("x", on="a"), pod("y", on="a")))
    assert chosen(given, pod("p")) == "b"


def test_chance_decides_between_equals_and_the_same_chance_decides_alike() -> None:
    given = snapshot(*(node(name) for name in "abcd"))
    found = Counter(chosen(given, pod("p"), seed) for seed in range(40))
    assert set(found) == set("abcd")
    assert chosen(given, pod("p"), 7) == chosen(given, pod("p"), 7)


def test_preferred_node_is_taken_although_it_is_fuller() -> None:
    given = snapshot(
        node("a", labels={"disk": "ssd"}), node("b"), pods=(pod("x", on="a", cpu="1"),)
    )
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    wants = preferred(nodeAffinity=[{"weight": 1, "preference": term}])
    assert chosen(given, pod("p", affinity=wants)) == "a"


def test_taint_that_advises_against_a_node_is_heeded_if_there_is_another() -> None:
    taint = {"key": "k", "effect": "PreferNoSchedule"}
    crowd = tuple(pod(f"x{n}", on="b", cpu="500m") for n in range(3))
    assert chosen(snapshot(node("a", taints=[taint]), node("b"), pods=crowd), pod("p")) == "b"
    assert chosen(snapshot(node("a", taints=[taint])), pod("p")) == "a"


def test_pods_that_like_each_other_are_put_together() -> None:
    given = snapshot(node("a"), node("b"), pods=(pod("x", on="a", labels={"app": "web"}),))
    term = {"topologyKey": HOST, "labelSelector": WEB}
    likes = [{"weight": 10, "podAffinityTerm": term}]
    assert chosen(given, pod("p", affinity=preferred(podAffinity=likes))) == "a"
    assert chosen(given, pod("p", affinity=preferred(podAntiAffinity=likes))) == "b"


def test_soft_spread_prefers_the_emptier_domain() -> None:
    placed = (pod("x", on="a", labels={"app": "web"}), pod("y", on="b", cpu="2"))
    rule = {
        "maxSkew": 1,
        "topologyKey": HOST,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": WEB,
    }
    given = snapshot(node("a"), node("b"), pods=placed)
    one = pod("p", labels={"app": "web"}, topologySpreadConstraints=[rule])
    assert chosen(given, one) == "b"
