from __future__ import annotations

import pytest

from quintant.testing.loop import advance
from unit.cluster.api import CMS, PODS, JsonObject, api, config_map, pod

JOBS = "/apis/batch/v1/namespaces/default/jobs"


async def test_a_deleted_object_is_gone_and_the_answer_says_what_it_was() -> None:
    client = api()
    created = await client.create(CMS, config_map("a"))
    answer = await client.delete(f"{CMS}/a")
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    assert answer["details"] == {
        "name": "a",
        "kind": "configmaps",
        "uid": created["metadata"]["uid"],
    }
    await client.get(f"{CMS}/a", code=404)
    await client.delete(f"{CMS}/a", code=404)


async def test_some_kinds_answer_the_object_they_lost() -> None:
    client = api()
    service = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}
    await client.create("/api/v1/namespaces/default/services", service)
    answer = await client.delete("/api/v1/namespaces/default/services/a")
    assert answer["kind"] == "Service"


async def test_a_finalizer_holds_the_object_until_it_is_removed() -> None:
    client = api()
    await client.create(CMS, config_map("a", finalizers=["x.y/z"], generation=1))
    await advance(5)
    marked = await client.delete(f"{CMS}/a")
    metadata = marked["metadata"]
    assert metadata["deletionTimestamp"] == "2026-01-01T00:00:05Z"
    assert metadata["deletionGracePeriodSeconds"] == 0
    assert metadata["generation"] == 2
    await advance(5)
    assert await client.delete(f"{CMS}/a") == marked
    last = await client.merge(f"{CMS}/a", {"metadata": {"finalizers": None}})
    assert last["metadata"]["resourceVersion"] == metadata["resourceVersion"]
    await client.get(f"{CMS}/a", code=404)


async def test_a_dying_object_takes_no_new_finalizers() -> None:
    client = api()
    await client.create(CMS, config_map("a", finalizers=["x.y/z"]))
    await client.delete(f"{CMS}/a")
    patch = {"metadata": {"finalizers": ["x.y/z", "u.v/w"]}}
    refused = await client.merge(f"{CMS}/a", patch, code=422)
    assert refused["details"]["causes"][0]["message"] == (
        "Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"u.v/w"}'
    )


async def test_preconditions_guard_against_deleting_another_object() -> None:
    client = api()
    created = await client.create(CMS, config_map("a"))
    refused = await client.delete(f"{CMS}/a", {"preconditions": {"uid": "other"}}, code=409)
    assert refused["details"] == {"name": "a", "kind": "ConfigMap"}
    assert "the UID in the precondition (other) does not match" in refused["message"]
    stale = {"preconditions": {"resourceVersion": "1"}}
    await client.delete(f"{CMS}/a", stale, code=409)
    exact = {"preconditions": {"uid": created["metadata"]["uid"]}}
    await client.delete(f"{CMS}/a", exact)


@pytest.mark.parametrize(
    ("options", "finalizer"),
    [
        ({"propagationPolicy": "Foreground"}, "foregroundDeletion"),
        ({"propagationPolicy": "Orphan"}, "orphan"),
        ({"orphanDependents": True}, "orphan"),
    ],
)
async def test_propagation_leaves_a_finalizer_for_the_garbage_collector(
    options: JsonObject, finalizer: str
) -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    assert (await client.delete(f"{CMS}/a", options))["metadata"]["finalizers"] == [finalizer]


async def test_a_later_deletion_can_change_the_propagation() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    await client.delete(f"{CMS}/a", {"propagationPolicy": "Orphan"})
    await client.delete(f"{CMS}/a", {"propagationPolicy": "Background"})
    await client.get(f"{CMS}/a", code=404)


async def test_jobs_orphan_their_dependents_by_default() -> None:
    client = api()
    template = {"spec": {**pod("a")["spec"], "restartPolicy": "Never"}}
    await client.create(JOBS, {"metadata": {"name": "a"}, "spec": {"template": template}})
    assert (await client.delete(f"{JOBS}/a"))["metadata"]["finalizers"] == ["orphan"]


async def test_the_legacy_way_of_asking_answers_accepted_while_something_holds() -> None:
    client = api()
    await client.create(CMS, config_map("a", finalizers=["x.y/z"]))
    await client.delete(f"{CMS}/a", {"orphanDependents": False}, code=202)


async def test_a_dry_deletion_leaves_everything() -> None:
    client = api()
    created = await client.create(CMS, config_map("a"))
    await client.delete(f"{CMS}/a", dryRun="All")
    assert await client.get(f"{CMS}/a") == created


async def test_a_running_pod_is_given_its_grace() -> None:
    client = api()
    await client.create(PODS, pod("a", node="n1"))
    marked = await client.delete(f"{PODS}/a")
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert marked["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:30Z"
    assert marked["metadata"]["generation"] == 2
    longer = await client.delete(f"{PODS}/a", {"gracePeriodSeconds": 60})
    assert longer["metadata"]["deletionGracePeriodSeconds"] == 30
    shorter = await client.delete(f"{PODS}/a", {"gracePeriodSeconds": 5})
    assert shorter["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:05Z"
    assert shorter["metadata"]["generation"] == 2
    await client.delete(f"{PODS}/a", {"gracePeriodSeconds": 0})
    await client.get(f"{PODS}/a", code=404)


async def test_a_pod_nobody_runs_goes_at_once() -> None:
    client = api()
    await client.create(PODS, pod("waiting"))
    await client.delete(f"{PODS}/waiting")
    await client.create(PODS, pod("done", node="n1"))
    await client.merge(f"{PODS}/done/status", {"status": {"phase": "Succeeded"}})
    await client.delete(f"{PODS}/done")
    assert await client.names(PODS) == []


async def test_a_negative_grace_is_a_second() -> None:
    client = api()
    await client.create(PODS, pod("a", node="n1"))
    marked = await client.delete(f"{PODS}/a", {"gracePeriodSeconds": -1})
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 1


async def test_a_collection_is_deleted_by_selector_and_answers_what_it_lost() -> None:
    client = api()
    for name, label in (("a", "1"), ("b", "2"), ("c", "1")):
        await client.create(CMS, config_map(name, labels={"l": label}))
    answer = await client.delete(CMS, labelSelector="l=1")
    assert answer["kind"] == "ConfigMapList"
    assert [item["metadata"]["name"] for item in answer["items"]] == ["a", "c"]
    assert await client.names(CMS) == ["b"]
    assert (await client.delete(CMS, labelSelector="l=9"))["items"] == []


async def test_deleting_a_collection_respects_finalizers() -> None:
    client = api()
    await client.create(CMS, config_map("a", finalizers=["x.y/z"]))
    await client.create(CMS, config_map("b"))
    await client.delete(CMS)
    (held,) = (await client.get(CMS))["items"]
    assert held["metadata"]["deletionTimestamp"]
