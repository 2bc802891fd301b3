"""The graph says who has to be looked at, whatever the order in which objects are seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.controllers.garbage.graph import (
    FOREGROUND,
    ORPHAN,
    GraphNode,
    OwnerGraph,
    graph_node,
)
from quintant.core.object import ObjectMeta, OwnerReference, Request
from quintant.core.resource import Resource

MAPS = Resource("", "v1", "ConfigMap", "configmaps")
ROLES = Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)
OWNED = st.lists(st.tuples(st.integers(0, 5), st.sets(st.integers(0, 5))), max_size=30)


def ref(uid: str, name: str = "", *, block: bool | None = None) -> OwnerReference:
    return OwnerReference(
        api_version="v1", kind="ConfigMap", name=name or uid, uid=uid, block_owner_deletion=block
    )


def config(
    uid: str, *owners: OwnerReference, namespace: str = "a", waiting: bool = False
) -> GraphNode:
    return GraphNode(uid, MAPS, Request(uid, namespace), owners, waiting=waiting)


def graph(*nodes: GraphNode) -> OwnerGraph:
    made = OwnerGraph()
    for each in nodes:
        made.put(each)
    return made


def test_object_with_a_known_owner_is_left_alone() -> None:
    assert not list(graph(config("a")).put(config("b", ref("a"))))


def test_object_with_an_unknown_owner_is_looked_at() -> None:
    assert list(OwnerGraph().put(config("b", ref("a")))) == ["b"]


def test_object_whose_owner_has_another_name_is_looked_at() -> None:
    assert list(graph(config("a")).put(config("b", ref("a", "other")))) == ["b"]


def test_object_whose_owner_turns_out_to_live_elsewhere_is_looked_at() -> None:
    made = graph(config("b", ref("a"), namespace="x"))
    assert list(made.put(config("a", namespace="y"))) == ["b"]
    found = made.get("b")
    assert found is not None
    assert made.cross_namespace_refs(found) == [ref("a")]


def test_owner_without_namespace_may_own_inside_one() -> None:
    made = graph(GraphNode("a", ROLES, Request("a")))
    by = OwnerReference(api_version=ROLES.api_version, kind="ClusterRole", name="a", uid="a")
    assert not list(made.put(config("b", by)))


def test_dependents_of_what_is_gone_are_looked_at() -> None:
    made = graph(config("a"), config("b", ref("a")), config("c", ref("a")))
    assert sorted(made.remove("a")) == ["b", "c"]
    assert made.is_gone("a", "a")
    assert not made.is_gone("a", "elsewhere")


def test_owner_that_waits_is_looked_at_when_a_dependent_is_gone() -> None:
    made = graph(config("a", waiting=True), config("b", ref("a")))
    assert list(made.remove("b")) == ["a"]


def test_owner_that_waits_is_looked_at_when_a_dependent_stops_blocking_it() -> None:
    made = graph(config("a", waiting=True), config("b", ref("a", block=True)))
    assert [each.uid for each in made.blocking("a")] == ["b"]
    assert "a" in made.put(config("b", ref("a", block=False)))
    assert not made.blocking("a")


def test_dependents_of_what_begins_to_wait_are_looked_at() -> None:
    made = graph(config("a"), config("b", ref("a")))
    assert sorted(made.put(config("a", waiting=True))) == ["a", "b"]
    assert not list(made.put(config("a", waiting=True)))


def test_what_a_list_does_not_show_is_gone() -> None:
    made = graph(config("a"), config("b", ref("a")), GraphNode("r", ROLES, Request("r")))
    assert list(made.remove_resource(MAPS, but={"b"})) == ["b"]
    assert made.get("a") is None
    assert made.get("r") is not None


def test_finalizers_count_only_while_the_object_is_being_deleted() -> None:
    held = ObjectMeta(name="a", uid="a", finalizers=(FOREGROUND, ORPHAN))
    assert not graph_node(MAPS, held).pending
    going = ObjectMeta(name="a", uid="a", finalizers=(ORPHAN,), deletion_timestamp="now")
    assert graph_node(MAPS, going).orphaning


@given(OWNED)
def test_dependents_are_always_those_that_refer_to_an_owner(
    steps: list[tuple[int, set[int]]],
) -> None:
    made, told = OwnerGraph(), dict[str, set[str]]()
    for which, by in steps:
        uid, owners = str(which), {str(each) for each in by}
        if uid in told and not owners:
            made.remove(uid)
            del told[uid]
        else:
            made.put(config(uid, *map(ref, sorted(owners))))
            told[uid] = owners
    for which in range(6):
        expected = sorted(uid for uid, owners in told.items() if str(which) in owners)
        assert [each.uid for each in made.dependents(str(which))] == expected
