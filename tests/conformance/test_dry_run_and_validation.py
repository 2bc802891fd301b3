"""Dry runs, field validation, and the refusal of what makes no sense."""

from __future__ import annotations

import pytest

from conformance.kinds import (
    CLAIM,
    DEPLOYMENT,
    JOB,
    POD,
    SAMPLES,
    SERVICE,
    STATEFUL_SET,
    WORKLOAD,
    Sample,
)
from conformance.target import Target, causes, decoded
from unit.cluster.api import JSON, MERGE, JsonObject, config_map

MAIN = {"name": "main", "image": "image:1"}


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
async def test_a_dry_run_leaves_no_trace(target: Target, sample: Sample) -> None:
    name = f"a-{target.namespace}"
    path = sample.path(target, name)
    tried = await target.create(sample.path(target), sample.object(name), dryRun="All")
    assert tried["metadata"]["uid"]
    assert "resourceVersion" not in tried["metadata"]
    await target.get(path, code=404)
    made = await target.create(sample.path(target), sample.object(name))
    patch = {"metadata": {"labels": {"a": "b"}}}
    patched = await target.merge(path, patch, dryRun="All")
    assert patched["metadata"]["labels"]["a"] == "b"
    await target.ask("DELETE", path, None, 200, dryRun="All")
    assert await target.get(path) == made


async def test_other_dry_runs_are_refused(target: Target) -> None:
    refused = await target.create(
        target.path("configmaps"), config_map("a"), code=422, dryRun="Some"
    )
    assert causes(refused) == [("dryRun", "FieldValueNotSupported")]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize("strictness", ["Strict", "Warn", "Ignore"])
async def test_unknown_fields(target: Target, method: str, strictness: str) -> None:
    path = target.path("configmaps")
    body: JsonObject = {**config_map("a"), "unknown": 1}
    if method != "POST":
        await target.create(path, config_map("a"))
        path = f"{path}/a"
    media = MERGE if method == "PATCH" else JSON
    reply = await target.send(method, path, body, fieldValidation=strictness, media=media)
    if strictness == "Strict":
        assert reply.status == (422 if method == "PATCH" else 400)
        said = decoded(reply.body)["message"]
        assert 'strict decoding error: unknown field "unknown"' in said
    else:
        assert reply.status in (200, 201)
        assert "unknown" not in decoded(reply.body)
        assert ("warning" in reply.headers) == (strictness == "Warn")


async def test_repeated_fields(target: Target) -> None:
    path, body = target.path("configmaps"), b'{"metadata":{"name":"a"},"data":{},"data":{"k":"v"}}'
    refused = await target.create(path, body, code=400, fieldValidation="Strict")
    assert 'strict decoding error: duplicate field "data"' in refused["message"]
    reply = await target.send("POST", path, body)
    assert 'duplicate field \\"data\\"' in reply.headers["warning"]


def pod(**spec: object) -> JsonObject:
    return {"spec": {"containers": [MAIN], **spec}}


REFUSED: list[tuple[Sample, JsonObject, list[tuple[str, str]]]] = [
    (POD, {"spec": {}}, [("spec.containers", "FieldValueRequired")]),
    (
        POD,
        {"spec": {"containers": [{}]}},
        [
            ("spec.containers[0].name", "FieldValueRequired"),
            ("spec.containers[0].image", "FieldValueRequired"),
        ],
    ),
    (POD, pod(containers=[MAIN, MAIN]), [("spec.containers[1].name", "FieldValueDuplicate")]),
    (
        POD,
        pod(containers=[{**MAIN, "ports": [{"containerPort": 70000}]}]),
        [("spec.containers[0].ports[0].containerPort", "FieldValueInvalid")],
    ),
    (
        POD,
        pod(containers=[{**MAIN, "volumeMounts": [{"name": "no", "mountPath": "/a"}]}]),
        [("spec.containers[0].volumeMounts[0].name", "FieldValueNotFound")],
    ),
    (POD, pod(restartPolicy="X"), [("spec.restartPolicy", "FieldValueNotSupported")]),
    (
        DEPLOYMENT,
        {"spec": {**WORKLOAD, "selector": {"matchLabels": {"other": "x"}}}},
        [("spec.template.metadata.labels", "FieldValueInvalid")],
    ),
    (
        JOB,
        {"spec": {"template": pod()}},
        [("spec.template.spec.restartPolicy", "FieldValueRequired")],
    ),
    (SERVICE, {"spec": {}}, [("spec.ports", "FieldValueRequired")]),
    (
        CLAIM,
        {"spec": {}},
        [
            ("spec.accessModes", "FieldValueRequired"),
            ("spec.resources[storage]", "FieldValueRequired"),
        ],
    ),
]


@pytest.mark.parametrize(
    ("sample", "content", "wrong"), REFUSED, ids=[f"{row[0]}-{row[2][0][0]}" for row in REFUSED]
)
async def test_what_makes_no_sense_is_refused(
    target: Target, sample: Sample, content: JsonObject, wrong: list[tuple[str, str]]
) -> None:
    body = {**sample.object("a"), **content}
    assert causes(await target.create(sample.path(target), body, code=422)) == wrong


FIXED: list[tuple[Sample, JsonObject, tuple[str, str]]] = [
    (POD, {"restartPolicy": "Never"}, ("spec", "FieldValueForbidden")),
    (
        DEPLOYMENT,
        {
            "selector": {"matchLabels": {"app": "x"}},
            "template": {"metadata": {"labels": {"app": "x"}}},
        },
        ("spec.selector", "FieldValueInvalid"),
    ),
    (STATEFUL_SET, {"serviceName": "x"}, ("spec", "FieldValueForbidden")),
    (JOB, {"completions": 5}, ("spec.completions", "FieldValueInvalid")),
    (
        JOB,
        {"template": {"metadata": {"labels": {"a": "b"}}}},
        ("spec.template", "FieldValueInvalid"),
    ),
    (
        SERVICE,
        {"clusterIP": "None", "clusterIPs": ["None"]},
        ("spec.clusterIPs[0]", "FieldValueInvalid"),
    ),
    (CLAIM, {"accessModes": ["ReadWriteMany"]}, ("spec", "FieldValueForbidden")),
]


@pytest.mark.parametrize(
    ("sample", "spec", "wrong"), FIXED, ids=[f"{row[0]}-{row[2][0]}" for row in FIXED]
)
async def test_what_must_stay_stays(
    target: Target, sample: Sample, spec: JsonObject, wrong: tuple[str, str]
) -> None:
    await target.create(sample.path(target), sample.object("a"))
    refused = await target.merge(sample.path(target, "a"), {"spec": spec}, code=422)
    assert causes(refused) == [wrong]


async def test_the_image_of_a_running_pod_may_change(target: Target) -> None:
    await target.create(POD.path(target), POD.object("a"))
    patch = {"op": "replace", "path": "/spec/containers/0/image", "value": "image:2"}
    found = await target.patch(POD.path(target, "a"), patch)
    assert found["spec"]["containers"][0]["image"] == "image:2"
