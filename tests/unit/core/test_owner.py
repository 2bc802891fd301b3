from __future__ import annotations

import pytest

from quintant.api.core import ConfigMap, Namespace, Node, Pod
from quintant.core.errors import ConfigError
from quintant.core.object import ObjectMeta, OwnerReference
from quintant.core.owner import (
    OWNER,
    OWNER_UID,
    Owner,
    controller_of,
    has_owner,
    owned,
    owner_of,
    owner_uid_of,
    with_labels,
)

PARENT = Pod(metadata=ObjectMeta(name="web", namespace="shop", uid="u1"))
CHILD = ConfigMap(metadata=ObjectMeta(name="web", namespace="shop"))


def test_owned_child_names_its_parent_as_controller() -> None:
    assert owned(CHILD, by=PARENT).metadata.owner_references == (
        OwnerReference(
            api_version="v1",
            kind="Pod",
            name="web",
            uid="u1",
            controller=True,
            block_owner_deletion=True,
        ),
    )


def test_child_itself_is_left_as_it_was() -> None:
    owned(CHILD, by=PARENT)
    assert CHILD.metadata.owner_references == ()


def test_owning_twice_is_owning_once() -> None:
    once = owned(CHILD, by=PARENT)
    assert owned(once, by=PARENT) == once


def test_owners_that_are_no_controllers_are_kept() -> None:
    friend = OwnerReference(api_version="v1", kind="Node", name="n", uid="u9")
    child = ConfigMap(
        metadata=ObjectMeta(name="web", namespace="shop", owner_references=(friend,)),
    )
    assert owned(child, by=PARENT).metadata.owner_references[0] == friend


def test_cluster_scoped_owner_may_own_anything() -> None:
    node = Node(metadata=ObjectMeta(name="n1", uid="u2"))
    assert has_owner(owned(CHILD, by=node), node)
    space = Namespace(metadata=ObjectMeta(name="shop"))
    assert has_owner(owned(space, by=node), node)


@pytest.mark.parametrize(
    "child",
    [
        ConfigMap(metadata=ObjectMeta(name="web", namespace="other")),
        ConfigMap(metadata=ObjectMeta(name="web")),
        Namespace(metadata=ObjectMeta(name="other")),
    ],
)
def test_owner_in_another_namespace_is_refused(child: ConfigMap | Namespace) -> None:
    with pytest.raises(ConfigError, match="in its child's namespace") as caught:
        owned(child, by=PARENT)
    assert caught.value.what.startswith("cannot make Pod shop/web the owner of ")


def test_owner_in_another_namespace_is_told_by_label_where_that_is_meant() -> None:
    apart = ConfigMap(metadata=ObjectMeta(name="web", namespace="other", labels={"a": "b"}))
    child = owned(apart, by=PARENT, across_namespaces=True)
    assert child.metadata.owner_references == ()
    assert child.metadata.labels == {"a": "b", OWNER_UID: "u1"}
    assert child.metadata.annotations == {OWNER: "Pod/shop/web"}
    assert owner_of(child) == Owner("", "Pod", "shop", "web", "u1")
    assert owner_uid_of(child) == "u1"
    assert owned(child, by=PARENT, across_namespaces=True) == child


def test_child_without_a_namespace_may_have_an_owner_with_one_where_that_is_meant() -> None:
    space = Namespace(metadata=ObjectMeta(name="other"))
    assert owner_uid_of(owned(space, by=PARENT, across_namespaces=True)) == "u1"


def test_owner_in_the_childs_namespace_is_told_by_reference_in_any_case() -> None:
    assert owned(CHILD, by=PARENT, across_namespaces=True) == owned(CHILD, by=PARENT)
    assert owner_of(owned(CHILD, by=PARENT)) == Owner("", "Pod", "shop", "web", "u1")


def test_child_that_names_no_namespace_is_refused_even_then() -> None:
    with pytest.raises(ConfigError, match="in its child's namespace"):
        owned(ConfigMap(metadata=ObjectMeta(name="web")), by=PARENT, across_namespaces=True)


def test_second_owner_by_label_is_refused() -> None:
    apart = ConfigMap(metadata=ObjectMeta(name="web", namespace="other"))
    rival = Pod(metadata=ObjectMeta(name="rival", namespace="shop", uid="u3"))
    with pytest.raises(ConfigError, match="Pod web controls it already"):
        owned(owned(apart, by=PARENT, across_namespaces=True), by=rival, across_namespaces=True)


def test_second_controller_is_refused_and_the_first_is_named() -> None:
    rival = Pod(metadata=ObjectMeta(name="rival", namespace="shop", uid="u3"))
    with pytest.raises(ConfigError, match="Pod web controls it already"):
        owned(owned(CHILD, by=PARENT), by=rival)


def test_owner_that_was_never_stored_is_refused() -> None:
    with pytest.raises(ConfigError, match="has no uid"):
        owned(CHILD, by=Pod(metadata=ObjectMeta(name="web", namespace="shop")))


def test_namesake_with_another_uid_is_no_owner() -> None:
    child = owned(CHILD, by=PARENT)
    again = Pod(metadata=ObjectMeta(name="web", namespace="shop", uid="u7"))
    assert has_owner(child, PARENT)
    assert not has_owner(child, again)


def test_controller_is_found_among_the_owners() -> None:
    assert controller_of(CHILD) is None
    found = controller_of(owned(CHILD, by=PARENT))
    assert found is not None
    assert found.uid == "u1"


def test_labels_are_added_and_the_newest_wins() -> None:
    labelled = with_labels(CHILD, {"app.kubernetes.io/name": "web", "tier": "x"}, tier="y")
    assert labelled.metadata.labels == {"app.kubernetes.io/name": "web", "tier": "y"}
    assert with_labels(labelled, a="b").metadata.labels["tier"] == "y"
    assert CHILD.metadata.labels == {}
