"""Limits of a real server that programs rely on: sizes of data, paths of volumes, Scale patches."""

from __future__ import annotations

from base64 import b64encode

import pytest

from conformance.target import Target, causes
from unit.cluster.api import JsonObject

LIMIT = 1024 * 1024
TEXT = "may not be more than 1048576 bytes"


def _base64(size: int) -> str:
    return b64encode(b"y" * size).decode()


@pytest.mark.parametrize(
    ("plural", "body", "field"),
    [
        ("configmaps", {"data": {"k": "x" * (LIMIT + 1)}}, "[]"),
        ("configmaps", {"data": {"k": "é" * (LIMIT // 2 + 1)}}, "[]"),
        ("configmaps", {"binaryData": {"k": _base64(LIMIT + 1)}}, "[]"),
        (
            "configmaps",
            {"data": {"k": "x" * 700_000}, "binaryData": {"b": _base64(400_000)}},
            "[]",
        ),
        ("secrets", {"data": {"k": _base64(LIMIT + 1)}}, "data"),
        ("secrets", {"stringData": {"k": "x" * LIMIT, "l": "x"}}, "data"),
    ],
)
async def test_more_than_a_mebibyte_is_refused(
    target: Target, plural: str, body: JsonObject, field: str
) -> None:
    path = target.path(plural)
    refused = await target.create(path, {"metadata": {"name": "a"}, **body}, code=422)
    assert refused["message"].endswith(f"{field}: Too long: {TEXT}")
    assert causes(refused) == [(field, "FieldValueTooLong")]


@pytest.mark.parametrize(
    ("plural", "body"),
    [
        ("configmaps", {"data": {"k": "x" * LIMIT}}),
        ("configmaps", {"data": {"key-that-is-not-counted": "x" * LIMIT}}),
        ("configmaps", {"binaryData": {"k": _base64(LIMIT)}}),
        ("secrets", {"data": {"k": _base64(LIMIT)}}),
    ],
)
async def test_a_mebibyte_is_stored(target: Target, plural: str, body: JsonObject) -> None:
    await target.create(target.path(plural), {"metadata": {"name": "a"}, **body})


def _volume(name: str, path: str) -> JsonObject:
    term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    return {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "local": {"path": path},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }


@pytest.mark.parametrize("path", ["/data/../..", "/..", "..", "/a/../b"])
async def test_the_path_of_a_local_volume_leads_nowhere_else(target: Target, path: str) -> None:
    made = _volume(f"{target.namespace}-a", path)
    refused = await target.create("/api/v1/persistentvolumes", made, code=422)
    assert causes(refused) == [("spec.local.path", "FieldValueInvalid")]
    assert refused["message"].endswith("must not contain '..'")


async def test_dots_in_a_name_are_no_way_up(target: Target) -> None:
    await target.create("/api/v1/persistentvolumes", _volume(f"{target.namespace}-b", "/a/..b"))


async def _deployment(target: Target) -> str:
    labels = {"a": "b"}
    container = {"name": "c", "image": "i"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    path = target.path("deployments", api="apps/v1")
    await target.create(path, {"metadata": {"name": "d"}, "spec": spec})
    return f"{path}/d/scale"


async def test_a_scale_is_patched_strategically_whatever_the_patch_calls_itself(
    target: Target,
) -> None:
    path = await _deployment(target)
    named = {"name": "d", "namespace": target.namespace}
    words: list[JsonObject] = [
        {},
        {"kind": "Scale", "apiVersion": "autoscaling/v1"},
        {"kind": "Deployment", "metadata": named},
        {"kind": "Deployment", "apiVersion": "apps/v1"},
    ]
    for replicas, said in enumerate(words, 2):
        made = await target.strategic(path, {**said, "spec": {"replicas": replicas}})
        assert (made["kind"], made["spec"]) == ("Scale", {"replicas": replicas})
    deployment = await target.get(path.removesuffix("/scale"))
    assert deployment["spec"]["replicas"] == 5


async def test_a_scale_is_not_patched_by_another_name(target: Target) -> None:
    path = await _deployment(target)
    patch = {"metadata": {"name": "other"}, "spec": {"replicas": 2}}
    await target.strategic(path, patch, code=400)
