"""Objects that make no sense: refused by every server alike, and never a reason to fail."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kinds import (
    BINDING,
    DAEMON_SET,
    DEPLOYMENT,
    JOB,
    NAMESPACE,
    POD,
    SAMPLES,
    SECRET,
    Sample,
)
from conformance.refusals import Refusal, refusals
from conformance.target import STRATEGIC, Target, causes, definition
from unit.cluster.api import APPLY, CRDS, JSON, JSON_PATCH, MERGE, JsonObject

ROWS = refusals()
SCOPED = {(sample.api, sample.plural): sample.namespaced for sample in (*SAMPLES, NAMESPACE)}
EACH = pytest.mark.parametrize("sample", SAMPLES, ids=str)
ODD: dict[str, Any] = {"array": [], "string": "x", "number": 1, "bool": True}
UNQUALIFIED = {
    *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
    *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
    *("leases", "poddisruptionbudgets", "runtimeclasses"),
    *("validatingwebhookconfigurations", "mutatingwebhookconfigurations"),
}
"""Kinds whose finalizers need no domain."""


@pytest.mark.parametrize(("where", "rows"), ROWS.items(), ids=["/".join(key) for key in ROWS])
async def test_what_was_recorded_of_a_real_server_is_said(
    target: Target, where: tuple[str, str], rows: list[Refusal]
) -> None:
    api, plural = where
    space = target.namespace if SCOPED[where] else ""
    for row in rows:
        await row.check(target, target.elsewhere(space, plural, api=api))


@EACH
async def test_metadata_of_another_type_is_no_metadata(target: Target, sample: Sample) -> None:
    for found, value in ODD.items():
        body = {**sample.object("a"), "metadata": value}
        refused = await target.create(sample.path(target), body, code=400)
        said = f"cannot unmarshal {found} into Go struct field {sample.kind}.metadata of type"
        assert refused["message"].endswith(f"json: {said} v1.ObjectMeta")


@EACH
async def test_an_empty_key_is_told_twice(target: Target, sample: Sample) -> None:
    name = f"a-{target.namespace}"
    for field in ("labels", "annotations"):
        body = sample.object(name, **{field: {"": ""}})
        refused = await target.create(sample.path(target), body, code=422, dryRun="All")
        said = [each["message"] for each in refused["details"]["causes"]]
        assert said[0] == 'Invalid value: "": name part must be non-empty'
        assert causes(refused) == [(f"metadata.{field}", "FieldValueInvalid")] * 2


@EACH
async def test_an_empty_finalizer_is_told_by_every_rule(target: Target, sample: Sample) -> None:
    body = sample.object(f"a-{target.namespace}", finalizers=[""])
    refused = await target.create(sample.path(target), body, code=422, dryRun="All")
    own = [] if sample.plural in UNQUALIFIED else [("metadata.finalizers[0]", "FieldValueInvalid")]
    assert causes(refused) == [("metadata.finalizers", "FieldValueInvalid")] * 2 + own


@EACH
async def test_an_object_needs_a_name(target: Target, sample: Sample) -> None:
    body = {**sample.object(""), "metadata": None}
    if sample.plural == "limitranges":
        made = await target.create(sample.path(target), body, dryRun="All")
        assert made["metadata"]["name"]
        return
    refused = await target.create(sample.path(target), body, code=422, dryRun="All")
    assert causes(refused)[0] == ("metadata.name", "FieldValueRequired")


@pytest.mark.parametrize("sample", [it for it in SAMPLES if not it.namespaced], ids=str)
async def test_what_is_in_no_namespace_may_name_one(target: Target, sample: Sample) -> None:
    body = sample.object(f"a-{target.namespace}", namespace="other")
    made = await target.create(sample.path(target), body, dryRun="All")
    assert "namespace" not in made["metadata"]


@pytest.mark.parametrize("sample", [NAMESPACE, JOB], ids=str)
async def test_what_is_labelled_by_its_name_may_have_none(target: Target, sample: Sample) -> None:
    refused = await target.create(sample.path(target), {**sample.content}, code=422)
    assert causes(refused) == [("metadata.name", "FieldValueRequired")]


@pytest.mark.parametrize("version", [None, 1, 1.5, True, [], {}], ids=str)
async def test_applying_something_of_no_version(target: Target, version: Any) -> None:
    body = {"apiVersion": version, "kind": "ConfigMap", "metadata": {"name": "a"}}
    path = target.path("configmaps", "a")
    refused = await target.apply(path, body, "me", code=400)
    assert refused["message"] == "invalid object type: /, Kind=ConfigMap"


@pytest.mark.parametrize("items", ["x", 1, True, []], ids=str)
async def test_items_that_are_no_schema_are_none(target: Target, items: Any) -> None:
    listed = {"type": "array", "items": items}
    schema = {"type": "object", "properties": {"a": listed}}
    body = definition(f"{target.namespace}.example.com", schema)
    refused = await target.create(CRDS, body, code=422)
    path = "spec.validation.openAPIV3Schema.properties[a].items"
    assert causes(refused) == [(path, "FieldValueRequired")]


async def test_a_default_beside_a_blank_rule(target: Target) -> None:
    sized = {"type": "integer", "default": 1, "x-kubernetes-validations": [{"rule": " "}]}
    schema = {"type": "object", "properties": {"a": sized}}
    refused = await target.create(
        CRDS, definition(f"{target.namespace}.example.com", schema), code=422
    )
    path = "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].rule"
    assert causes(refused) == [(path, "FieldValueRequired")]


ORDERS: list[tuple[Sample, str, str, JsonObject, str]] = [
    (DEPLOYMENT, "scale", "PUT", {"spec": []}, "array into Go struct field Scale.spec of type"),
    (DEPLOYMENT, "scale", "PUT", {"metadata": 1}, "number into Go struct field Scale.metadata of"),
    (POD, "eviction", "POST", {"metadata": []}, "array into Go struct field Eviction.metadata of"),
    (POD, "binding", "POST", {"target": "x"}, "string into Go struct field Binding.target of type"),
    (POD, "binding", "POST", {"metadata": 1}, "number into Go struct field Binding.metadata of"),
]


@pytest.mark.parametrize(
    ("sample", "sub", "method", "body", "why"),
    ORDERS,
    ids=[f"{sub}-{next(iter(body))}" for _, sub, _, body, _ in ORDERS],
)
async def test_what_is_ordered_is_read_by_its_type(
    target: Target, sample: Sample, sub: str, method: str, body: JsonObject, why: str
) -> None:
    await target.create(sample.path(target), sample.object("a"))
    refused = await target.ask(method, sample.path(target, "a", sub), body, 400)
    assert f"json: cannot unmarshal {why}" in refused["message"]


@pytest.mark.parametrize("value", ["x", 1, [1]], ids=str)
async def test_options_of_a_deletion_are_read_by_their_types(target: Target, value: Any) -> None:
    refused = await target.delete(
        target.path("configmaps", "a"), {"preconditions": value}, code=400
    )
    said = "into Go struct field DeleteOptions.preconditions of type v1.Preconditions"
    assert refused["message"].endswith(said)


async def test_a_dry_run_binds_nothing(target: Target) -> None:
    await target.create(POD.path(target), POD.object("a"))
    body = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}
    await target.create(POD.path(target, "a", "binding"), body, dryRun="All")
    assert "nodeName" not in (await target.get(POD.path(target, "a")))["spec"]


@pytest.mark.parametrize("media", [JSON, MERGE, JSON_PATCH, STRATEGIC, APPLY])
async def test_no_write_makes_metadata_something_else(target: Target, media: str) -> None:
    path = target.path("configmaps", "a")
    await target.create(target.path("configmaps"), {"metadata": {"name": "a"}})
    body: Any = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": []}
    if media == JSON_PATCH:
        body = [{"op": "add", "path": "/metadata", "value": []}]
    more = {"fieldManager": "me"} if media == APPLY else {}
    method = "PUT" if media == JSON else "PATCH"
    code = {JSON: 400, APPLY: 500}.get(media, 422)
    await target.ask(method, path, body, code, media=media, **more)


MERGED: list[tuple[JsonObject, str]] = [
    ({"spec": {"replicas": "x"}}, '"map[spec:map[replicas:x]]": unrecognized type: int32'),
    ({"spec": []}, '"map[spec:[]]": cannot restore struct from: slice'),
    ({"metadata": [{}]}, '"map[metadata:[map[]]]": cannot restore struct from: slice'),
    (
        {"metadata": {"labels": {"a": 1}}},
        '"map[metadata:map[labels:map[a:1]]]": cannot convert int64 to string',
    ),
]


@pytest.mark.parametrize(("patch", "why"), MERGED, ids=[why for _, why in MERGED])
async def test_a_strategic_patch_of_the_wrong_types_is_shown(
    target: Target, patch: JsonObject, why: str
) -> None:
    await target.create(DEPLOYMENT.path(target), DEPLOYMENT.object("a"))
    refused = await target.strategic(DEPLOYMENT.path(target, "a"), patch, code=422)
    assert refused["message"] == f' "" is invalid: patch: Invalid value: {why}'


UPDATES: list[tuple[Sample, JsonObject, list[tuple[str, str]]]] = [
    (
        DAEMON_SET,
        {"spec": {"selector": {"matchLabels": {"a": "b"}}, "minReadySeconds": -1}},
        [
            ("spec.selector", "FieldValueInvalid"),
            ("spec.template.metadata.labels", "FieldValueInvalid"),
            ("spec.minReadySeconds", "FieldValueInvalid"),
        ],
    ),
    (
        BINDING,
        {"roleRef": {"name": "a/b"}, "subjects": [{}]},
        [
            ("roleRef.name", "FieldValueInvalid"),
            ("subjects[0].name", "FieldValueRequired"),
            ("subjects[0].kind", "FieldValueNotSupported"),
            ("roleRef", "FieldValueInvalid"),
        ],
    ),
    (
        SECRET,
        {"type": "kubernetes.io/tls"},
        [
            ("type", "FieldValueInvalid"),
            ("data[tls.crt]", "FieldValueRequired"),
            ("data[tls.key]", "FieldValueRequired"),
        ],
    ),
]


@pytest.mark.parametrize(
    ("sample", "patch", "wrong"), UPDATES, ids=[str(sample) for sample, _, _ in UPDATES]
)
async def test_an_update_is_told_everything_in_order(
    target: Target, sample: Sample, patch: JsonObject, wrong: list[tuple[str, str]]
) -> None:
    await target.create(sample.path(target), sample.object("a"))
    assert causes(await target.merge(sample.path(target, "a"), patch, code=422)) == wrong


async def test_an_update_cannot_change_what_holds_a_namespace(target: Target) -> None:
    path = target.elsewhere("", "namespaces", target.namespace)
    patched = await target.merge(path, {"spec": {"finalizers": ["a b"]}})
    assert patched["spec"]["finalizers"] == ["kubernetes"]
