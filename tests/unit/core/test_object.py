"""Promises of quintant.core.object."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.core import Pod, PodSpec
from quintant.core.object import (
    Object,
    ObjectMeta,
    Opaque,
    Request,
    decode_hook,
    encode_hook,
    replace,
)
from unit.core.json_strategy import JSON
from unit.runtime.kinds import Ship, ShipSpec, meta, ship


def test_a_request_reads_as_kubectl_writes_it() -> None:
    assert str(Request("a", "sea")) == "sea/a"
    assert str(Request("a")) == "a"


def test_models_are_frozen() -> None:
    with pytest.raises(AttributeError):
        ship().spec = ShipSpec()  # type: ignore[misc]


def test_replace_leaves_the_original_alone() -> None:
    first = ship()

    second = replace(first, spec=ShipSpec(rig="ketch"))

    assert (first.spec.rig, second.spec.rig) == ("sloop", "ketch")


def test_a_namesake_has_name_and_namespace_and_nothing_else() -> None:
    parent = ship("a", "7", labels={"x": "y"})

    like = ObjectMeta.like(parent, labels={"own": "label"})

    assert like == ObjectMeta(name="a", namespace="sea", labels={"own": "label"})


def test_key_and_deletion_are_read_from_metadata() -> None:
    going = Ship(metadata=meta(deletion_timestamp="2026-01-01T00:00:00Z"), spec=ShipSpec())

    assert going.key == Request("a", "sea")
    assert going.deleting
    assert not ship().deleting


@given(JSON)
def test_opaque_gives_back_what_it_was_given(value: object) -> None:
    assert Opaque.of(value).value == value
    assert Opaque.of({"inner": Opaque.of(value)}).value == {"inner": value}


def test_opaque_values_are_equal_by_content() -> None:
    one, same, other = Opaque.of({"a": 1}), Opaque.of({"a": 1}), Opaque.of({"a": 2})

    assert one == same
    assert one != other
    assert one != {"a": 1}
    assert len({one, same, other}) == 2


def test_opaque_shows_nothing_of_its_content() -> None:
    assert repr(Opaque.of({"password": "x"})) == "Opaque(16 bytes)"


def test_opaque_holds_models() -> None:
    assert Opaque.of(ShipSpec(rig="ketch")).value == {"rig": "ketch"}


def test_hooks_know_nothing_but_opaque() -> None:
    with pytest.raises(NotImplementedError, match="cannot encode complex"):
        encode_hook(1j)
    with pytest.raises(NotImplementedError, match="cannot decode complex"):
        decode_hook(complex, {})


def test_models_travel_in_camel_case_without_defaults() -> None:
    assert msgspec.json.encode(ObjectMeta(resource_version="1")) == b'{"resourceVersion":"1"}'


def test_assigning_to_a_field_is_answered_with_how_to_replace_it() -> None:
    pod = Pod(spec=PodSpec())
    with pytest.raises(AttributeError) as caught:
        pod.spec.node_name = "a"  # type: ignore[misc]
    assert str(caught.value).splitlines() == [
        "cannot assign to node_name of a PodSpec",
        "because: objects are frozen: caches and other reconciles share them",
        "try: changed = replace(podspec, node_name=...), from quintant import replace",
    ]


def test_deleting_a_field_is_answered_the_same_way() -> None:
    pod = Pod()
    with pytest.raises(AttributeError, match="cannot delete metadata of a Pod"):
        del pod.metadata
    assert pod.metadata.name == ""


HOME = Request("a", "shop")
WEST = HOME.in_cluster("west")
words = st.text("abc", max_size=2)


def test_a_key_of_another_cluster_unpacks_like_any_other() -> None:
    name, namespace = WEST
    assert (name, namespace) == ("a", "shop")
    assert (WEST.cluster, HOME.cluster) == ("west", "")


def test_a_key_says_its_cluster() -> None:
    assert str(WEST) == "west:shop/a"
    assert str(Request("a").in_cluster("west")) == "west:a"
    assert repr(WEST) == "Request(name='a', namespace='shop').in_cluster('west')"


def test_the_local_key_is_that_of_the_object() -> None:
    obj = Object(metadata=ObjectMeta(name="a", namespace="shop"))
    assert WEST.local == obj.key
    assert type(WEST.local) is Request
    assert HOME.local is HOME
    assert WEST.in_cluster("") == HOME


def test_a_key_that_is_changed_stays_in_its_cluster() -> None:
    assert WEST._replace(name="b") == Request("b", "shop").in_cluster("west")


@given(words, words, words, words, words, words)
def test_keys_are_equal_where_name_namespace_and_cluster_are(
    name: str, namespace: str, cluster: str, name2: str, namespace2: str, cluster2: str
) -> None:
    one = Request(name, namespace).in_cluster(cluster)
    other = Request(name2, namespace2).in_cluster(cluster2)
    same = (name, namespace, cluster) == (name2, namespace2, cluster2)
    assert (one == other) is same
    assert (other == one) is same
    assert (one != other) is not same
    assert len({one, other}) == 2 - same
