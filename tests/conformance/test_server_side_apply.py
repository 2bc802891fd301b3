"""Server-side apply: who owns what, and who wins."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kinds import (
    CONTROLLER,
    DEPLOYMENT,
    JOB,
    POD_SPEC,
    REPLICA_SET,
    SERVICE,
    STATEFUL_SET,
    WORKLOAD,
    Sample,
)
from conformance.target import Target, causes, owners
from unit.cluster.api import APPLY, JsonObject, config_map


async def applied(target: Target, data: JsonObject | None, manager: str, **more: Any) -> JsonObject:
    path = target.path("configmaps", "a")
    return await target.apply(path, config_map("a", data), manager, **more)


async def test_apply_creates_and_repeats_without_effect(target: Target) -> None:
    made = await applied(target, {"k": "v"}, "one", code=201)
    again = await applied(target, {"k": "v"}, "one")
    assert again == made
    assert owners(made) == {"one Apply": {"f:data": {"f:k": {}}}}


async def test_apply_needs_a_manager(target: Target) -> None:
    path = target.path("configmaps", "a")
    refused = await target.ask("PATCH", path, config_map("a"), 422, media=APPLY)
    assert causes(refused) == [("fieldManager", "FieldValueRequired")]


async def test_only_apply_can_be_forced(target: Target) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    refused = await target.merge(target.path("configmaps", "a"), {}, code=422, force="true")
    assert causes(refused) == [("force", "FieldValueForbidden")]


async def test_a_conflict_names_manager_and_field(target: Target) -> None:
    await applied(target, {"k": "v"}, "one", code=201)
    refused = await applied(target, {"k": "w"}, "two", code=409)
    assert refused["reason"] == "Conflict"
    assert refused["message"] == ('Apply failed with 1 conflict: conflict with "one": .data.k')
    assert causes(refused) == [(".data.k", "FieldManagerConflict")]


async def test_force_takes_the_field_over(target: Target) -> None:
    await applied(target, {"k": "v", "l": "v"}, "one", code=201)
    found = await applied(target, {"k": "w"}, "two", force="true")
    assert found["data"] == {"k": "w", "l": "v"}
    assert owners(found) == {
        "one Apply": {"f:data": {"f:l": {}}},
        "two Apply": {"f:data": {"f:k": {}}},
    }


async def test_equal_values_are_shared(target: Target) -> None:
    await applied(target, {"k": "v"}, "one", code=201)
    found = await applied(target, {"k": "v"}, "two")
    assert owners(found).keys() == {"one Apply", "two Apply"}


async def test_updaters_are_named_with_their_version(target: Target) -> None:
    await target.create(target.path("configmaps"), config_map("a", {"k": "v"}), fieldManager="upd")
    refused = await applied(target, {"k": "w"}, "one", code=409)
    assert refused["message"].startswith(
        'Apply failed with 1 conflict: conflict with "upd" using v1'
    )


async def test_entries_have_the_documented_shape(target: Target) -> None:
    made = await target.create(
        target.path("configmaps"), config_map("a", {"k": "v"}), fieldManager="m"
    )
    (entry,) = made["metadata"]["managedFields"]
    assert entry == {
        "manager": "m",
        "operation": "Update",
        "apiVersion": "v1",
        "time": made["metadata"]["creationTimestamp"],
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:k": {}}},
    }


async def test_what_only_one_owned_goes_with_it(target: Target) -> None:
    await applied(target, {"own": "1", "shared": "1"}, "one", code=201)
    await applied(target, {"shared": "1"}, "two")
    found = await applied(target, None, "one")
    assert found["data"] == {"shared": "1"}
    assert owners(found).keys() == {"two Apply"}


async def test_a_field_given_to_a_controller_stays(target: Target) -> None:
    path = DEPLOYMENT.path(target, "a")
    whole = {**DEPLOYMENT.object("a"), "spec": {**WORKLOAD, "replicas": 1}}
    await target.apply(path, whole, "author", code=201)
    await target.merge(path, {"spec": {"replicas": 5}}, fieldManager="scaler")
    found = await target.apply(path, DEPLOYMENT.object("a"), "author")
    assert found["spec"]["replicas"] == 5
    assert owners(found)["scaler Update"] == {"f:spec": {"f:replicas": {}}}


def ports(*numbers: int) -> JsonObject:
    container = {**POD_SPEC["containers"][0], "ports": [{"containerPort": n} for n in numbers]}
    template = {**WORKLOAD["template"], "spec": {"containers": [container]}}
    return {**DEPLOYMENT.object("a"), "spec": {**WORKLOAD, "template": template}}


def numbers(obj: JsonObject) -> list[int]:
    found = obj["spec"]["template"]["spec"]["containers"][0].get("ports") or []
    return [port["containerPort"] for port in found]


async def test_items_of_lists_come_and_go(target: Target) -> None:
    path = DEPLOYMENT.path(target, "a")
    made = await target.apply(path, ports(80, 81), "one", code=201)
    assert numbers(made) == [80, 81]
    assert numbers(await target.apply(path, ports(81), "one")) == [81]
    container = owners(await target.get(path))["one Apply"]["f:spec"]["f:template"]["f:spec"]
    keys = container["f:containers"]['k:{"name":"main"}']["f:ports"]
    assert list(keys) == ['k:{"containerPort":81,"protocol":"TCP"}']


async def test_keys_do_not_repeat(target: Target) -> None:
    path = DEPLOYMENT.path(target, "a")
    refused = await target.apply(path, ports(80, 80), "one", code=500)
    assert "duplicate entries for key" in refused["message"]


@pytest.mark.parametrize("empty", [[], [{}]], ids=["none", "blank"])
@pytest.mark.parametrize("form", ["merge", "strategic", "json", "put"])
async def test_ownership_can_be_cleared(target: Target, form: str, empty: list[JsonObject]) -> None:
    path = target.path("configmaps", "a")
    made = await applied(target, {"k": "v"}, "one", code=201)
    match form:
        case "merge":
            found = await target.merge(path, {"metadata": {"managedFields": empty}})
        case "strategic":
            found = await target.strategic(path, {"metadata": {"managedFields": empty}})
        case "json":
            operation = {"op": "replace", "path": "/metadata/managedFields", "value": empty}
            found = await target.patch(path, operation)
        case _:
            made["metadata"]["managedFields"] = empty
            found = await target.put(path, made)
    assert "managedFields" not in found["metadata"]


async def test_the_status_is_applied_apart(target: Target) -> None:
    path, status = JOB.path(target, "a"), {"failed": 2}
    await target.apply(path, JOB.object("a"), "author", code=201)
    config = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "status": status}
    found = await target.apply(f"{path}/status", config, "counter")
    assert found["status"]["failed"] == 2
    assert owners(found)["counter Apply status"] == {"f:status": {"f:failed": {}}}
    again = await target.apply(path, {**JOB.object("a"), "status": {"failed": 7}}, "author")
    assert again["status"]["failed"] == 2
    assert "f:status" not in owners(again)["author Apply"]


@pytest.mark.parametrize("sample", [DEPLOYMENT, REPLICA_SET, STATEFUL_SET, CONTROLLER], ids=str)
async def test_scaling_owns_the_replicas_of_the_parent(target: Target, sample: Sample) -> None:
    path = sample.path(target, "a")
    wanted = {**sample.object("a"), "spec": {**sample.content["spec"], "replicas": 1}}
    await target.apply(path, wanted, "author", code=201)
    scaled = await target.merge(f"{path}/scale", {"spec": {"replicas": 4}}, fieldManager="scaler")
    assert (scaled["kind"], scaled["spec"]) == ("Scale", {"replicas": 4})
    found = await target.get(path)
    assert found["spec"]["replicas"] == 4
    assert owners(found)["scaler Update scale"] == {"f:spec": {"f:replicas": {}}}
    refused = await target.apply(path, wanted, "author", code=409)
    assert causes(refused) == [(".spec.replicas", "FieldManagerConflict")]


async def test_scaling_owns_the_replicas_of_a_custom_resource(target: Target) -> None:
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    foos = await target.define(subresources={"scale": scale})
    wanted = foos.object("a", spec={"replicas": 1, "other": "x"})
    await target.apply(foos.path("a"), wanted, "author", code=201)
    patch = {"spec": {"replicas": 4}}
    await target.merge(foos.path("a", "scale"), patch, fieldManager="scaler")
    found = owners(await target.get(foos.path("a")))
    assert found["scaler Update scale"] == {"f:spec": {"f:replicas": {}}}
    assert found["author Apply"] == {"f:spec": {".": {}, "f:other": {}}}
    refused = await target.apply(foos.path("a"), wanted, "author", code=409)
    assert causes(refused) == [(".spec.replicas", "FieldManagerConflict")]


SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer", "default": 1},
                "tags": {
                    "type": "array",
                    "x-kubernetes-list-type": "set",
                    "items": {"type": "string"},
                },
                "items": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "n": {"type": "integer"}},
                    },
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        }
    },
}


async def test_custom_resources_merge_by_their_schema(target: Target) -> None:
    foos = await target.define(schema=SCHEMA)
    one = foos.object("a", spec={"tags": ["x"], "items": [{"name": "x", "n": 1}], "free": {"a": 1}})
    two = foos.object("a", spec={"tags": ["y"], "items": [{"name": "y", "n": 2}], "free": {"b": 1}})
    made = await target.apply(foos.path("a"), one, "one", code=201)
    assert made["spec"]["size"] == 1
    found = (await target.apply(foos.path("a"), two, "two"))["spec"]
    assert found["tags"] == ["x", "y"]
    assert [item["name"] for item in found["items"]] == ["x", "y"]
    assert found["free"] == {"a": 1, "b": 1}
    gone = await target.apply(foos.path("a"), foos.object("a", spec={}), "one")
    assert (gone["spec"]["tags"], gone["spec"]["free"]) == (["y"], {"b": 1})


async def test_unknown_fields_cannot_be_applied(target: Target) -> None:
    path = SERVICE.path(target, "a")
    body = {**SERVICE.object("a"), "spec": {"unknown": 1}}
    refused = await target.apply(path, body, "one", code=500)
    assert ".spec.unknown: field not declared in schema" in refused["message"]


ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.mark.parametrize("data", [{"k": "v"}, {"k": "<w>"}], ids=["same", "other"])
async def test_kubectl_keeps_its_own_annotation_true(target: Target, data: JsonObject) -> None:
    old = config_map("a", {"k": "v"}, annotations={ANNOTATION: "{}"})
    await target.create(target.path("configmaps"), old)
    others = await applied(target, data, "other", force="true")
    assert others["metadata"]["annotations"][ANNOTATION] == "{}"
    own = config_map("a", data, annotations={"b": "c"})
    found = await target.apply(target.path("configmaps", "a"), own, "kubectl", force="true")
    told = found["metadata"]["annotations"][ANNOTATION]
    text = data["k"].replace("<", "\\u003c").replace(">", "\\u003e")
    assert told == (
        f'{{"apiVersion":"v1","data":{{"k":"{text}"}},"kind":"ConfigMap",'
        '"metadata":{"annotations":{"b":"c"},"name":"a"}}\n'
    )


async def test_a_configuration_that_is_too_long_is_not_told(target: Target) -> None:
    old = config_map("a", annotations={ANNOTATION: "{}"})
    await target.create(target.path("configmaps"), old)
    found = await applied(target, {"k": "v" * 300_000}, "kubectl")
    assert "annotations" not in found["metadata"]
