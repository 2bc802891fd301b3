"""Promises of quintant.cluster.controllers.ref_manager."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.api.apps import ReplicaSet, ReplicaSetSpec
from quintant.api.meta import LabelSelector, LabelSelectorRequirement
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.ref_manager import (
    adopters_of,
    match_children,
    orphan_index,
    selector_index,
)
from quintant.core.object import ObjectMeta, OwnerReference

LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"))
SELECTOR = LabelSelector(match_labels={"app": "a"})


def pod(name: str, app: str = "", *, owner: str = "", deleted: bool = False) -> PodState:
    reference = OwnerReference(kind="ReplicaSet", name=owner, uid=owner, controller=True)
    return PodState(
        metadata=ObjectMeta(
            name=name,
            namespace="n",
            labels={"app": app} if app else {},
            owner_references=(reference,) if owner else (),
            deletion_timestamp="2026-01-01T00:00:00Z" if deleted else None,
        )
    )


def replicas(selector: LabelSelector) -> ReplicaSet:
    return ReplicaSet(
        metadata=ObjectMeta(name="a", namespace="n"), spec=ReplicaSetSpec(selector=selector)
    )


def test_children_are_kept_adopted_and_released_by_labels() -> None:
    mine = [pod("kept", "a"), pod("strange", "b"), pod("going", "a", deleted=True)]
    orphans = [pod("free", "a"), pod("other", "b"), pod("leaving", "a", deleted=True)]
    claims = match_children(SELECTOR, mine, orphans)
    assert [it.metadata.name for it in claims.kept] == ["kept", "going"]
    assert [it.metadata.name for it in claims.adopted] == ["free"]
    assert [it.metadata.name for it in claims.released] == ["strange"]


def test_only_those_without_a_controller_are_orphans() -> None:
    assert tuple(orphan_index(pod("a"))) == ("n",)
    assert tuple(orphan_index(pod("a", owner="x"))) == ()
    assert tuple(adopters_of(pod("a", "a", owner="x"))) == ()


@given(LABELS, LABELS)
def test_whoever_may_adopt_a_child_is_found_by_its_labels(
    wanted: dict[str, str], given: dict[str, str]
) -> None:
    """The index may find too many, never too few."""
    selector = LabelSelector(match_labels=wanted)
    if selector.matches(given):
        found = set(selector_index(replicas(selector)))
        child = PodState(metadata=ObjectMeta(name="x", namespace="n", labels=given))
        assert found & set(adopters_of(child))


def test_selector_without_labels_is_found_by_any_child() -> None:
    selector = LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="a", operator="Exists"),)
    )
    assert set(selector_index(replicas(selector))) <= set(adopters_of(pod("x")))
