"""Annotations of pods, written through the status: who may write no more can swap no image."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kinds import POD, POD_SPEC
from conformance.target import Target, causes, owners
from unit.cluster.api import JsonObject

MANAGER = "operator"
NOTE = "records.example.com/note"
OTHER = "records.example.com/other"
OWNED: JsonObject = {"f:metadata": {"f:annotations": {f"f:{NOTE}": {}}}}
IMAGE = {"containers": [{"name": "main", "image": "stolen"}]}
JOINED = {"type": "records.example.com/Joined", "status": "True"}


async def made(target: Target) -> str:
    """A pod with an annotation of its author's; its path."""
    await target.create(POD.path(target), POD.object("a", annotations={"author": "1"}))
    return POD.path(target, "a")


def record(note: str | None, **more: Any) -> JsonObject:
    return {"metadata": {"annotations": {NOTE: note}, **more}}


def applied(note: str | None, **more: Any) -> JsonObject:
    annotations = {} if note is None else {"annotations": {NOTE: note}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", **annotations}, **more}


def assert_only_the_record_changed(pod: JsonObject, note: str | None) -> None:
    annotations = {"author": "1"} | ({} if note is None else {NOTE: note})
    assert pod["metadata"]["annotations"] == annotations
    assert pod["metadata"]["generation"] == 1
    images = [each["image"] for each in pod["spec"]["containers"]]
    assert images == [each["image"] for each in POD_SPEC["containers"]]
    assert "activeDeadlineSeconds" not in pod["spec"]


@pytest.mark.parametrize("form", ["merge", "strategic", "json", "put", "apply"])
async def test_the_status_takes_annotations_and_no_spec(target: Target, form: str) -> None:
    path = await made(target)
    status, spec = f"{path}/status", {**IMAGE, "activeDeadlineSeconds": 5}
    match form:
        case "merge":
            await target.merge(status, {**record("1"), "spec": spec})
        case "strategic":
            await target.strategic(status, {**record("1"), "spec": spec})
        case "json":
            change = {"op": "replace", "path": "/spec/containers/0/image", "value": "stolen"}
            note = {"op": "add", "path": f"/metadata/annotations/{NOTE.replace('/', '~1')}"}
            await target.patch(status, change, {**note, "value": "1"})
        case "put":
            whole = await target.get(path)
            whole["metadata"]["annotations"][NOTE] = "1"
            whole["spec"]["containers"][0]["image"] = "stolen"
            await target.ask("PUT", status, whole, 200)
        case _:
            await target.apply(status, applied("1", spec=spec), MANAGER, force="true")
    assert_only_the_record_changed(await target.get(path), "1")


async def test_the_status_takes_labels_too(target: Target) -> None:
    path = await made(target)
    await target.merge(f"{path}/status", {"metadata": {"labels": {"x": "1"}}})
    assert (await target.get(path))["metadata"]["labels"] == {"x": "1"}


async def test_a_merge_patch_of_the_status_owns_what_it_annotates(target: Target) -> None:
    path = await made(target)
    found = await target.merge(f"{path}/status", record("1"), fieldManager=MANAGER)
    assert owners(found)[f"{MANAGER} Update status"] == OWNED
    again = await target.merge(f"{path}/status", record("1"), fieldManager=MANAGER)
    assert again["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]
    gone = await target.merge(f"{path}/status", record(None), fieldManager=MANAGER)
    assert_only_the_record_changed(gone, None)
    assert f"{MANAGER} Update status" not in owners(gone)


async def test_an_apply_to_the_status_owns_what_it_annotates(target: Target) -> None:
    path = await made(target)
    found = await target.apply(f"{path}/status", applied("1"), MANAGER)
    assert owners(found)[f"{MANAGER} Apply status"] == OWNED
    gone = await target.apply(f"{path}/status", applied(None), MANAGER)
    assert_only_the_record_changed(gone, None)


async def test_what_a_manager_applies_to_the_status_is_one_set(target: Target) -> None:
    path = await made(target)
    await target.apply(f"{path}/status", applied("1"), MANAGER)
    condition = applied(None, status={"conditions": [JOINED]})
    found = await target.apply(f"{path}/status", condition, MANAGER)
    assert_only_the_record_changed(found, None)
    assert [each["type"] for each in found["status"]["conditions"]] == [JOINED["type"]]


async def test_a_merge_patch_of_annotations_keeps_an_applied_condition(target: Target) -> None:
    path = await made(target)
    condition = applied(None, status={"conditions": [JOINED]})
    await target.apply(f"{path}/status", condition, MANAGER)
    await target.merge(f"{path}/status", record("1"), fieldManager=MANAGER)
    found = await target.apply(f"{path}/status", condition, MANAGER)
    assert_only_the_record_changed(found, "1")
    assert [each["type"] for each in found["status"]["conditions"]] == [JOINED["type"]]


async def test_an_apply_to_the_status_erases_nothing_applied_to_the_pod(target: Target) -> None:
    path = await made(target)
    await target.apply(path, applied("1"), MANAGER)
    kept = await target.apply(f"{path}/status", applied(None), MANAGER)
    assert_only_the_record_changed(kept, "1")
    assert owners(kept)[f"{MANAGER} Apply"] == OWNED


async def test_a_merge_patch_of_the_status_changes_and_erases_what_was_applied_to_the_pod(
    target: Target,
) -> None:
    path = await made(target)
    await target.apply(path, applied("1"), MANAGER)
    changed = await target.merge(f"{path}/status", record("2"), fieldManager=MANAGER)
    assert_only_the_record_changed(changed, "2")
    assert f"{MANAGER} Apply" not in owners(changed)
    gone = await target.merge(f"{path}/status", record(None), fieldManager=MANAGER)
    assert_only_the_record_changed(gone, None)


async def test_half_of_an_applied_record_stays_its_managers_own(target: Target) -> None:
    path = await made(target)
    both = applied("1")
    both["metadata"]["annotations"][OTHER] = "1"
    await target.apply(path, both, MANAGER)
    found = await target.merge(f"{path}/status", record("2"), fieldManager=MANAGER)
    assert owners(found)[f"{MANAGER} Apply"] == {
        "f:metadata": {"f:annotations": {f"f:{OTHER}": {}}}
    }
    assert owners(found)[f"{MANAGER} Update status"] == OWNED


async def test_a_record_for_another_pod_of_the_name_is_refused(target: Target) -> None:
    path = await made(target)
    other = record("1", uid="5a1e1a5e-0000-4000-8000-000000000000")
    refused = await target.merge(f"{path}/status", other, code=422)
    assert {field for field, _ in causes(refused)} == {"metadata.uid"}
    assert_only_the_record_changed(await target.get(path), None)


async def test_a_record_for_a_pod_that_is_gone_creates_none(target: Target) -> None:
    path = POD.path(target, "a")
    await target.merge(f"{path}/status", record("1"), code=404)
    await target.apply(f"{path}/status", applied("1"), MANAGER, code=404)
    assert await target.names(POD.path(target)) == []


@pytest.mark.parametrize("form", ["merge", "apply"])
async def test_the_status_gives_a_pod_no_owner_and_does_not_delete_it(
    target: Target, form: str
) -> None:
    path = await made(target)
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}
    more = {"ownerReferences": [owner], "deletionTimestamp": "2024-01-01T00:00:00Z"}
    if form == "merge":
        await target.merge(f"{path}/status", record("1", **more))
    else:
        body = applied("1")
        body["metadata"] |= more
        await target.apply(f"{path}/status", body, MANAGER)
    found = await target.get(path)
    assert_only_the_record_changed(found, "1")
    assert not {"ownerReferences", "deletionTimestamp"} & found["metadata"].keys()
