"""Who has to make room for a more important pod."""

from __future__ import annotations

from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.preemption import preempt
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from unit.cluster.scheduler.samples import node, pod, pod_info, snapshot


def victims(given: NodeSnapshot, one: PodView) -> tuple[str, list[str]] | None:
    found = preempt(pod_info(one), given.nodes)
    if found is None:
        return None
    return found.node, sorted(each.pod.metadata.name for each in found.victims)


def test_only_as_many_leave_as_are_in_the_way() -> None:
    placed = tuple(pod(f"x{n}", on="a", cpu="1", priority=n) for n in range(4))
    given = snapshot(node("a", cpu="4"), pods=placed)
    assert victims(given, pod("p", cpu="2", priority=10)) == ("a", ["x0", "x1"])


def test_node_is_taken_whose_victims_matter_least() -> None:
    placed = (pod("x", on="a", cpu="1", priority=5), pod("y", on="b", cpu="1", priority=1))
    given = snapshot(node("a", cpu="1"), node("b", cpu="1"), pods=placed)
    assert victims(given, pod("p", cpu="1", priority=10)) == ("b", ["y"])


def test_equals_are_left_alone() -> None:
    given = snapshot(node("a", cpu="1"), pods=(pod("x", on="a", cpu="1", priority=10),))
    assert victims(given, pod("p", cpu="1", priority=10)) is None


def test_nobody_leaves_where_it_would_not_help() -> None:
    placed = (pod("x", on="a", cpu="1"), pod("y", on="a", cpu="2", priority=20))
    given = snapshot(node("a", cpu="3"), pods=placed)
    assert victims(given, pod("p", cpu="2", priority=10)) is None


def test_trial_leaves_the_node_as_it_was() -> None:
    placed = tuple(pod(f"x{n}", on="a", cpu="1", priority=n) for n in range(3))
    given = snapshot(node("a", cpu="3"), pods=placed)
    before = (given.infos["a"].used_cpu, set(given.infos["a"].placed_pods))
    victims(given, pod("p", cpu="1", priority=10))
    victims(given, pod("q", cpu="9", priority=10))
    assert (given.infos["a"].used_cpu, set(given.infos["a"].placed_pods)) == before


def test_pod_that_must_not_preempt_does_not() -> None:
    given = snapshot(node("a", cpu="1"), pods=(pod("x", on="a", cpu="1"),))
    assert victims(given, pod("p", cpu="1", priority=10, preemptionPolicy="Never")) is None
