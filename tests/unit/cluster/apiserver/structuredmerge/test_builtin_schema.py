"""The shapes of built-in kinds, as the tables declare them."""

from __future__ import annotations

from quintant.cluster.apiserver.go_types import message
from quintant.cluster.apiserver.structuredmerge.builtin_schema import builtin_schema
from quintant.cluster.apiserver.structuredmerge.schema import ListType, MergeSchema


def below(schema: MergeSchema, *names: str) -> MergeSchema:
    for name in names:
        schema = schema.item() if name == "*" else schema.child(name)
    return schema


POD = builtin_schema(message("core.v1.Pod"))
CONTAINERS = below(POD, "spec", "containers")


def test_a_structure_has_its_declared_fields_only() -> None:
    assert below(POD, "spec").closed
    assert below(POD, "spec").declares("volumes")
    assert not below(POD, "spec").declares("volume")


def test_a_map_has_keys_and_no_fields() -> None:
    labels = below(POD, "metadata", "labels")
    assert not labels.closed
    assert not labels.declares("app")


def test_items_of_a_map_like_list_are_told_apart_by_keys_with_defaults() -> None:
    assert (CONTAINERS.list_type, CONTAINERS.keys) == (ListType.MAP, {"name": ""})
    ports = below(CONTAINERS, "*", "ports")
    assert (ports.list_type, ports.keys) == (ListType.MAP, {"containerPort": 0, "protocol": "TCP"})


def test_the_key_of_an_owner_is_its_uid_and_an_owner_is_one_value() -> None:
    owners = below(POD, "metadata", "ownerReferences")
    assert (owners.list_type, owners.keys) == (ListType.MAP, {"uid": ""})
    assert owners.item().atomic


def test_lists_are_values_unless_declared_otherwise() -> None:
    assert below(CONTAINERS, "*", "command").list_type is ListType.ATOMIC
    assert below(POD, "metadata", "finalizers").list_type is ListType.SET


def test_a_structure_or_a_map_may_be_one_value() -> None:
    assert below(POD, "spec", "nodeSelector").atomic
    deployment = builtin_schema(message("apps.v1.Deployment"))
    assert below(deployment, "spec", "selector").atomic


def test_what_holds_any_json_is_open() -> None:
    revision = builtin_schema(message("apps.v1.ControllerRevision"))
    data = below(revision, "data", "anything")
    assert not data.closed
    assert data.list_type is ListType.ATOMIC


def test_a_structure_inside_itself_has_a_shape_at_any_depth() -> None:
    definition = builtin_schema(message("apiextensions.v1.CustomResourceDefinition"))
    schema = below(definition, "spec", "versions", "*", "schema", "openAPIV3Schema")
    for _ in range(20):
        schema = below(schema, "properties", "x")
        assert schema.declares("type")
