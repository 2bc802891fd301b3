"""Deletion: finalizers, preconditions, what is answered and what becomes of dependents."""

from __future__ import annotations

import pytest

from conformance.kinds import (
    ACCOUNT,
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    LEASE,
    POD,
    ROLE,
    SECRET,
    SERVICE,
    Sample,
)
from conformance.target import Target, causes
from unit.cluster.api import config_map

NOBODY = "00000000-0000-0000-0000-000000000001"


async def test_a_finalizer_keeps_the_object(target: Target) -> None:
    path = target.path("configmaps", "a")
    await target.create(target.path("configmaps"), config_map("a", finalizers=["a.b/c"]))
    marked = (await target.delete(path))["metadata"]
    assert marked["deletionTimestamp"]
    assert marked["deletionGracePeriodSeconds"] == 0
    again = (await target.delete(path))["metadata"]
    assert again["resourceVersion"] == marked["resourceVersion"]
    patch = {"metadata": {"finalizers": ["a.b/c", "a.b/d"]}}
    refused = await target.merge(path, patch, code=422)
    assert ("metadata.finalizers", "FieldValueForbidden") in causes(refused)
    await target.merge(path, {"metadata": {"finalizers": None}})
    await target.get(path, code=404)


@pytest.mark.parametrize("field", ["uid", "resourceVersion"])
async def test_preconditions(target: Target, field: str) -> None:
    path = target.path("configmaps", "a")
    made = await target.create(target.path("configmaps"), config_map("a"))
    other = NOBODY if field == "uid" else "1"
    refused = await target.delete(path, {"preconditions": {field: other}}, code=409)
    assert refused["reason"] == "Conflict"
    await target.delete(path, {"preconditions": {field: made["metadata"][field]}})


async def test_unknown_propagation(target: Target) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    path = target.path("configmaps", "a")
    refused = await target.delete(path, {"propagationPolicy": "Sideways"}, code=422)
    assert causes(refused) == [("propagationPolicy", "FieldValueNotSupported")]


async def test_waiting_for_dependents_is_accepted_when_asked_the_old_way(
    target: Target,
) -> None:
    path = target.path("configmaps", "a")
    await target.create(target.path("configmaps"), config_map("a", finalizers=["a.b/c"]))
    await target.delete(path, {"orphanDependents": False}, code=202)
    await target.delete(path, {"propagationPolicy": "Background"}, code=200)


@pytest.mark.parametrize("sample", [CONFIG_MAP, SECRET, DEPLOYMENT, LEASE, ROLE], ids=str)
async def test_most_kinds_answer_a_status(target: Target, sample: Sample) -> None:
    made = await target.create(sample.path(target), sample.object("a"))
    answer = await target.delete(sample.path(target, "a"))
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    assert answer["details"]["uid"] == made["metadata"]["uid"]
    assert answer["details"]["kind"] == sample.plural


@pytest.mark.parametrize("sample", [SERVICE, ACCOUNT, POD], ids=str)
async def test_some_kinds_answer_the_object(target: Target, sample: Sample) -> None:
    await target.create(sample.path(target), sample.object("a"))
    assert (await target.delete(sample.path(target, "a")))["kind"] == sample.kind


async def test_jobs_orphan_by_default(target: Target) -> None:
    await target.create(JOB.path(target), JOB.object("a"))
    marked = await target.delete(JOB.path(target, "a"))
    assert marked["metadata"]["finalizers"] == ["orphan"]


async def test_foreground_waits_for_dependents(target: Target) -> None:
    await target.create(DEPLOYMENT.path(target), DEPLOYMENT.object("a"))
    path = DEPLOYMENT.path(target, "a")
    marked = await target.delete(path, {"propagationPolicy": "Foreground"})
    assert marked["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert marked["metadata"]["generation"] == 2


async def test_a_pod_on_a_node_is_given_time(target: Target) -> None:
    body = POD.object("a")
    body = {**body, "spec": {**body["spec"], "nodeName": "node"}}
    await target.create(POD.path(target), body)
    marked = (await target.delete(POD.path(target, "a")))["metadata"]
    assert marked["deletionGracePeriodSeconds"] == 30
    await target.delete(POD.path(target, "a"), {"gracePeriodSeconds": 0})
    await target.get(POD.path(target, "a"), code=404)


async def test_a_collection_is_deleted_by_selector(target: Target) -> None:
    path = target.path("configmaps")
    for name, group in (("a", "x"), ("b", "y"), ("c", "x")):
        await target.create(path, config_map(name, labels={"g": group}))
    gone = await target.ask("DELETE", path, None, 200, labelSelector="g=x")
    assert [item["metadata"]["name"] for item in gone["items"]] == ["a", "c"]
    assert await target.names(path, labelSelector="g") == ["b"]
    await target.create(path, config_map("d"))
    gone = await target.ask("DELETE", path, None, 200, fieldSelector="metadata.name=d")
    assert [item["metadata"]["name"] for item in gone["items"]] == ["d"]
    assert await target.names(path, labelSelector="g") == ["b"]
    refused = await target.ask("DELETE", path, None, 400, fieldSelector="data.k=v")
    assert '"data.k" is not a known field selector' in refused["message"]
