"""The tables of built-in kinds: what is in them, and what looking costs."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageType, message


def reached(kind: FieldType, seen: set[str]) -> Iterator[MessageType]:
    while kind.of is not None:
        kind = kind.of
    if kind.kind is FieldKind.MESSAGE and kind.name not in seen:
        seen.add(kind.name)
        yield kind.message
        for field in kind.message.declared:
            yield from reached(field.type, seen)


def test_bodies_of_subresources_and_reviews_are_in_the_table() -> None:
    bodies = {
        *(("v1", "DeleteOptions"), ("v1", "Binding"), ("policy/v1", "Eviction")),
        *(("autoscaling/v1", "Scale"), ("authentication.k8s.io/v1", "TokenRequest")),
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview"),
    }
    assert bodies <= set(go_types.kinds())


def test_a_custom_kind_is_not() -> None:
    assert go_types.find("example.com/v1", "Foo") is None


def test_every_message_can_be_decoded_and_numbers_its_fields_once() -> None:
    seen: set[str] = set()
    for label in go_types.kinds():
        kind = go_types.find(*label)
        assert kind is not None
        for each in reached(FieldType(FieldKind.MESSAGE, name=kind.name), seen):
            numbers = [field.number for field in each.declared if field.number]
            assert len(numbers) == len(set(numbers)), each.name
    assert "core.v1.Pod" in seen


def test_a_field_knows_how_it_merges() -> None:
    ports = message("core.v1.Container").fields["ports"]
    assert (ports.number, ports.type.kind) == (6, FieldKind.LIST)
    assert ports.traits.list == "map"
    assert ports.traits.keys == ("containerPort", "protocol")
    assert (ports.traits.strategy, ports.traits.merge) == ("merge", "containerPort")
    protocol = message("core.v1.ContainerPort").fields["protocol"]
    assert (protocol.traits.default, protocol.traits.enum) == ("TCP", ("SCTP", "TCP", "UDP"))


def test_an_embedded_structure_is_flattened_in_json_and_not_on_the_wire() -> None:
    volume = message("core.v1.Volume")
    assert "emptyDir" in volume.fields
    assert [(field.name, field.number) for field in volume.declared] == [("name", 1), ("", 2)]


def test_a_pointer_is_told_from_a_value() -> None:
    fields = message("apps.v1.DeploymentSpec").fields
    assert fields["replicas"].type.pointer
    assert not fields["minReadySeconds"].type.pointer


def test_an_empty_object_has_what_go_always_writes() -> None:
    assert message("core.v1.Pod").zero() == {
        "metadata": {},
        "spec": {"containers": None},
        "status": {},
    }


def test_a_zero_object_is_fresh_each_time() -> None:
    first = message("core.v1.Pod").zero()
    first["spec"]["nodeName"] = "n"
    assert message("core.v1.Pod").zero()["spec"] == {"containers": None}
