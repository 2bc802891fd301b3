"""Create, update and patch, as a client sees them."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.testing.loop import advance
from unit.cluster.api import (
    CMS,
    CRDS,
    FOOS,
    PODS,
    Api,
    JsonObject,
    api,
    config_map,
    foo,
    foo_definition,
    pod,
)


async def test_a_created_object_has_everything_the_server_says() -> None:
    client = api()
    created = await client.create(CMS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    metadata = created["metadata"]
    assert (created["apiVersion"], created["kind"]) == ("v1", "ConfigMap")
    assert (metadata["namespace"], metadata["creationTimestamp"]) == (
        "default",
        "2026-01-01T00:00:00Z",
    )
    assert metadata["uid"]
    assert metadata["resourceVersion"]
    assert await client.get(f"{CMS}/a") == created


@pytest.mark.parametrize(
    ("obj", "code", "message"),
    [
        (
            {"metadata": {}},
            422,
            'ConfigMap "" is invalid: metadata.name: Required value: '
            "name or generateName is required",
        ),
        (
            config_map("a", resourceVersion="5"),
            500,
            "resourceVersion should not be set on objects to be created",
        ),
        (
            config_map("a", namespace="elsewhere"),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            config_map("a", finalizers=["short"]),
            422,
            'ConfigMap "a" is invalid: metadata.finalizers[0]: Invalid value: "short": '
            "name is neither a standard finalizer name nor is it fully qualified",
        ),
        (
            config_map("a", ownerReferences=[{"apiVersion": "v1", "kind": "X", "name": "n"}]),
            422,
            'ConfigMap "a" is invalid: metadata.ownerReferences.uid: Invalid value: "": '
            "must not be empty",
        ),
    ],
)
async def test_what_makes_no_sense_is_refused(obj: JsonObject, code: int, message: str) -> None:
    assert (await api().create(CMS, obj, code=code))["message"] == message


@pytest.mark.parametrize("name", ["A", "a_b", "-a", "a" * 254])
async def test_names_must_be_dns_subdomains(name: str) -> None:
    refused = await api().create(CMS, config_map(name), code=422)
    assert refused["details"]["causes"][0]["field"] == "metadata.name"


async def test_a_name_can_be_taken_once() -> None:
    client = api()
    await client.create(CMS, config_map("a", finalizers=["x.y/z"]))
    taken = await client.create(CMS, config_map("a"), code=409)
    assert taken["message"] == 'configmaps "a" already exists'
    assert taken["reason"] == "AlreadyExists"
    assert taken["details"] == {"name": "a", "kind": "configmaps"}
    await client.delete(f"{CMS}/a")
    dying = await client.create(CMS, config_map("a"), code=409)
    assert dying["message"] == 'object is being deleted: configmaps "a" already exists'


async def test_a_namespace_has_to_exist_for_writes_but_not_for_reads() -> None:
    client = api()
    nowhere = "/api/v1/namespaces/nowhere/configmaps"
    refused = await client.create(nowhere, config_map("a"), code=404)
    assert refused["message"] == 'namespaces "nowhere" not found'
    assert (await client.get(nowhere))["items"] == []


async def test_duplicate_owners_collapse_with_a_warning() -> None:
    owner = {"apiVersion": "v1", "kind": "X", "name": "n", "uid": "1"}
    reply = await api().send("POST", CMS, config_map("a", ownerReferences=[owner, dict(owner)]))
    assert reply.headers["warning"].endswith('duplicate UID(s) observed: 1"')
    assert b'"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"n","uid":"1"}]' in reply.body


async def test_a_dry_run_leaves_no_trace() -> None:
    client = api()
    before = (await client.get(CMS))["metadata"]["resourceVersion"]
    dry = await client.create(CMS, config_map("a", {"k": "v"}), dryRun="All")
    assert dry["metadata"]["uid"]
    assert "resourceVersion" not in dry["metadata"]
    assert (await client.get(CMS))["metadata"]["resourceVersion"] == before
    await client.get(f"{CMS}/a", code=404)
    real = await client.create(CMS, config_map("a", {"k": "v"}))
    changed = await client.merge(f"{CMS}/a", {"data": {"k": "w"}}, dryRun="All")
    assert changed["data"] == {"k": "w"}
    assert await client.get(f"{CMS}/a") == real


async def test_dry_run_means_all_or_nothing() -> None:
    refused = await api().create(CMS, config_map("a"), code=422, dryRun="Some")
    assert refused["message"] == (
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: '
        'supported values: "All"'
    )


async def test_a_stale_update_conflicts() -> None:
    client = api()
    created = await client.create(CMS, config_map("a"))
    await client.merge(f"{CMS}/a", {"data": {"k": "v"}})
    stale = await client.put(f"{CMS}/a", created, code=409)
    assert stale["message"] == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


async def test_a_write_that_changes_nothing_is_not_a_write() -> None:
    client = api()
    created = await client.create(CMS, config_map("a", {"k": "v"}))
    await advance(100)
    assert await client.put(f"{CMS}/a", created) == created
    assert await client.merge(f"{CMS}/a", {"data": {"k": "v"}}) == created
    assert await client.patch(f"{CMS}/a") == created
    listed = await client.get(CMS)
    assert listed["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]


@pytest.mark.parametrize("tolerations", [[], None])
async def test_what_admission_puts_back_was_not_written(tolerations: Any) -> None:
    """Every pod tolerates a node that is away for five minutes, whatever is sent later."""
    client = api()
    created = await client.create(PODS, pod("a"))
    await advance(100)
    sent = {"spec": {"tolerations": tolerations}}
    assert await client.merge(f"{PODS}/a", sent) == created
    assert (
        await client.put(f"{PODS}/a", {**created, "spec": {**created["spec"], **sent["spec"]}})
        == created
    )
    labelled = await client.merge(f"{PODS}/a", {"metadata": {"labels": {"a": "b"}}, **sent})
    assert labelled["metadata"]["managedFields"][0]["time"] == "2026-01-01T00:01:40Z"


async def test_identity_survives_an_update() -> None:
    client = api()
    created = await client.create(CMS, config_map("a"))
    await advance(100)
    updated = await client.put(f"{CMS}/a", config_map("a", {"k": "v"}))
    for field in ("uid", "creationTimestamp"):
        assert updated["metadata"][field] == created["metadata"][field]


async def test_a_resource_version_in_a_patch_is_a_lock() -> None:
    client = api()
    created = await client.create(CMS, config_map("a"))
    locked = {"metadata": {"resourceVersion": created["metadata"]["resourceVersion"]}}
    await client.merge(f"{CMS}/a", {**locked, "data": {"k": "v"}})
    assert (await client.merge(f"{CMS}/a", {**locked, "data": {}}, code=409))[
        "reason"
    ] == "Conflict"
    test = {"op": "test", "path": "/metadata/resourceVersion", "value": "1"}
    await client.patch(f"{CMS}/a", test, code=422)


async def test_generation_counts_changes_of_the_spec_alone() -> None:
    client = await with_foos()
    path = f"{FOOS}/a"
    assert generation(await client.create(FOOS, foo("a"))) == 1
    assert generation(await client.merge(path, {"metadata": {"labels": {"x": "y"}}})) == 1
    assert generation(await client.merge(f"{path}/status", {"status": {"phase": "x"}})) == 1
    assert generation(await client.merge(path, {"spec": {"size": 2}})) == 2
    assert generation(await client.merge(path, {"spec": {"size": 2}})) == 2


async def test_without_a_status_subresource_everything_counts() -> None:
    client = await with_foos(subresources={})
    await client.create(FOOS, foo("a"))
    assert generation(await client.merge(f"{FOOS}/a", {"status": {"phase": "x"}})) == 2
    await client.merge(f"{FOOS}/a/status", {}, code=404)


async def test_main_and_status_endpoints_keep_to_their_own() -> None:
    client = await with_foos()
    created = await client.create(FOOS, {**foo("a", {"size": 2}), "status": {"phase": "early"}})
    assert "status" not in created
    both = {"spec": {"size": 9}, "status": {"phase": "on"}, "metadata": {"labels": {"x": "y"}}}
    status = await client.merge(f"{FOOS}/a/status", both)
    assert (status["spec"]["size"], status["status"]) == (2, {"phase": "on"})
    assert "labels" not in status["metadata"]
    main = await client.merge(f"{FOOS}/a", {**both, "status": {"phase": "off"}})
    assert (main["spec"]["size"], main["status"]) == (9, {"phase": "on"})
    assert main["metadata"]["labels"] == {"x": "y"}


async def test_pods_accept_labels_through_their_status() -> None:
    client = api()
    await client.create(PODS, pod("a"))
    patch = {"metadata": {"labels": {"x": "y"}}, "status": {"phase": "Running"}}
    written = await client.merge(f"{PODS}/a/status", patch)
    assert written["metadata"]["labels"] == {"x": "y"}


async def test_secrets_store_strings_as_data() -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    created = await api().create(
        secrets, {"metadata": {"name": "a"}, "stringData": {"k": "v"}, "data": {"d": "eA=="}}
    )
    assert created["data"] == {"d": "eA==", "k": "dg=="}
    assert created["type"] == "Opaque"
    assert "stringData" not in created


async def test_numbers_survive_exactly() -> None:
    client = await with_foos()
    spec = {"free": {"big": 2**63 - 1, "float": 1.5, "whole": 1.0, "none": None}}
    created = await client.create(FOOS, foo("a", spec))
    assert created["spec"]["free"] == spec["free"]


async def test_writes_of_one_moment_are_applied_one_by_one() -> None:
    import asyncio

    client = api()
    await client.create(CMS, config_map("a"))
    patches = [client.merge(f"{CMS}/a", {"data": {f"k{n}": "v"}}) for n in range(50)]
    await asyncio.gather(*patches)
    assert len((await client.get(f"{CMS}/a"))["data"]) == 50


def generation(obj: JsonObject) -> int:
    found: int = obj["metadata"]["generation"]
    return found


async def with_foos(**version: Any) -> Api:
    client = api()
    await client.create(CRDS, foo_definition(**version))
    return client
