"""Server-side apply and field ownership, as a client sees them."""

from __future__ import annotations

from typing import Any

from quintant.cluster.apiserver.fieldmanager.managers import MAX_UPDATERS
from quintant.testing.loop import advance
from testbeds.call_counter import counted_calls
from unit.cluster.api import CMS, FOOS, Api, JsonObject, api, config_map, foo, foo_definition

A = f"{CMS}/a"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def owners(obj: JsonObject) -> dict[str, Any]:
    """Fields by manager and operation."""
    entries = obj["metadata"].get("managedFields", [])
    return {f"{entry['manager']}:{entry['operation']}": entry["fieldsV1"] for entry in entries}


def deployment(*containers: JsonObject, **spec: Any) -> JsonObject:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": list(containers)}}
    selector = {"matchLabels": {"app": "a"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": selector, "template": template, **spec},
    }


async def test_an_apply_creates_what_is_absent() -> None:
    client = api()
    created = await client.apply(A, config_map("a", {"k": "v"}), "one", code=201)
    assert created["data"] == {"k": "v"}
    assert owners(created) == {"one:Apply": {"f:data": {"f:k": {}}}}


async def calls_of_applies(client: Api, names: list[str], value: str, code: int = 200) -> float:
    """The function calls that each of these takes."""
    with counted_calls() as counter:
        for name in names:
            data = {f"key-{number}": value for number in range(10)}
            await client.apply(f"{CMS}/{name}", config_map(name, data), "one", code=code)
    return counter.calls / len(names)


async def test_an_apply_makes_at_most_800_calls_where_it_creates_and_900_where_it_changes() -> None:
    client = api()
    await calls_of_applies(client, ["warm-1", "warm-2"], "first", 201)
    names = [f"counted-{number}" for number in range(20)]
    created = await calls_of_applies(client, names, "first", 201)
    changed = await calls_of_applies(client, names, "second")
    assert created <= 800
    assert changed <= 900


async def test_the_same_apply_again_changes_nothing() -> None:
    client = api()
    created = await client.apply(A, config_map("a", {"k": "v"}), "one", code=201)
    await advance(60)
    assert await client.apply(A, config_map("a", {"k": "v"}), "one") == created


async def test_a_creation_owns_containers_and_an_apply_does_not() -> None:
    client = api()
    created = await client.create(CMS, config_map("a", {"k": "v"}, labels={"l": "1"}))
    assert owners(created) == {
        "test:Update": {
            "f:data": {".": {}, "f:k": {}},
            "f:metadata": {"f:labels": {".": {}, "f:l": {}}},
        }
    }


async def test_changing_anothers_field_is_a_conflict_that_names_it() -> None:
    client = api()
    await client.apply(A, config_map("a", {"k": "1"}), "one", code=201)
    refused = await client.apply(A, config_map("a", {"k": "2"}), "two", code=409)
    assert refused["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.k'
    assert refused["details"] == {
        "causes": [
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "one"',
                "field": ".data.k",
            }
        ]
    }


async def test_several_conflicts_are_listed_by_manager() -> None:
    client = api()
    await client.apply(A, config_map("a", {"k": "1"}), "one", code=201)
    await client.merge(A, {"data": {"m": "1"}})
    refused = await client.apply(A, config_map("a", {"k": "2", "m": "2"}), "two", code=409)
    assert refused["message"] == (
        "Apply failed with 2 conflicts: "
        'conflicts with "one":\n- .data.k\nconflicts with "test" using v1:\n- .data.m'
    )


async def test_force_takes_the_field_away() -> None:
    client = api()
    await client.apply(A, config_map("a", {"k": "1", "m": "1"}), "one", code=201)
    forced = await client.apply(A, config_map("a", {"k": "2"}), "two", force="true")
    assert forced["data"] == {"k": "2", "m": "1"}
    assert owners(forced) == {
        "one:Apply": {"f:data": {"f:m": {}}},
        "two:Apply": {"f:data": {"f:k": {}}},
    }


async def test_the_same_value_is_owned_together() -> None:
    client = api()
    await client.apply(A, config_map("a", {"k": "1"}), "one", code=201)
    shared = await client.apply(A, config_map("a", {"k": "1"}), "two")
    assert owners(shared) == {
        "one:Apply": {"f:data": {"f:k": {}}},
        "two:Apply": {"f:data": {"f:k": {}}},
    }
    left = await client.apply(A, config_map("a", {}), "one")
    assert left["data"] == {"k": "1"}
    assert owners(left)["two:Apply"] == {"f:data": {"f:k": {}}}


async def test_a_field_only_its_applier_owned_goes_when_it_is_left_out() -> None:
    client = api()
    await client.apply(A, config_map("a", {"k": "1", "m": "1"}), "one", code=201)
    assert (await client.apply(A, config_map("a", {"m": "1"}), "one"))["data"] == {"m": "1"}


async def test_a_field_an_update_changed_belongs_to_the_updater_and_stays() -> None:
    client = api()
    await client.apply(A, config_map("a", {"k": "1", "m": "1"}), "one", code=201)
    await client.merge(A, {"data": {"k": "2"}})
    left = await client.apply(A, config_map("a", {"m": "1"}), "one")
    assert left["data"] == {"k": "2", "m": "1"}


async def test_a_field_that_is_written_again_by_its_owner_has_a_new_time_alone() -> None:
    client = api()
    await client.apply(A, config_map("a", {"mine": "1"}), "one", code=201)
    first = await client.merge(A, {"data": {"k": "1"}})
    await advance(60)
    again = await client.merge(A, {"data": {"k": "2"}})
    assert owners(again) == owners(first)
    times = [
        [entry["time"] for entry in obj["metadata"]["managedFields"]] for obj in (first, again)
    ]
    assert times[0][0] == times[1][0]
    assert times[0][1] < times[1][1]


async def test_a_field_of_two_owners_is_the_writers_alone_afterwards() -> None:
    client = api()
    await client.create(CMS, config_map("a", {"other": "1"}))
    await client.merge(A, {"data": {"k": "1"}})
    shared = await client.apply(A, config_map("a", {"k": "1"}), "one")
    assert owners(shared)["one:Apply"] == {"f:data": {"f:k": {}}}
    assert "f:k" in owners(shared)["test:Update"]["f:data"]
    taken = await client.merge(A, {"data": {"k": "2"}})
    assert owners(taken) == {"test:Update": owners(shared)["test:Update"]}


async def test_an_update_loses_what_it_removes() -> None:
    client = api()
    await client.create(CMS, config_map("a", {"k": "1", "m": "1"}))
    left = await client.merge(A, {"data": {"k": None}})
    assert owners(left) == {"test:Update": {"f:data": {".": {}, "f:m": {}}}}


async def test_containers_merge_by_name() -> None:
    client = api()
    path = f"{DEPLOYMENTS}/d"
    await client.apply(path, deployment({"name": "a", "image": "1"}), "one", code=201)
    both = await client.apply(path, deployment({"name": "b", "image": "2"}), "two")
    containers = both["spec"]["template"]["spec"]["containers"]
    assert [(each["name"], each["image"]) for each in containers] == [("a", "1"), ("b", "2")]
    refused = await client.apply(path, deployment({"name": "a", "image": "3"}), "two", code=409)
    assert refused["details"]["causes"][0]["field"] == (
        '.spec.template.spec.containers[name="a"].image'
    )


async def test_an_object_nobody_tracked_belongs_to_before_first_apply() -> None:
    client = api()
    await client.create(CMS, config_map("a", {"k": "1"}))
    cleared = await client.merge(A, {"metadata": {"managedFields": [{}]}})
    assert "managedFields" not in cleared["metadata"]
    untracked = await client.merge(A, {"data": {"m": "1"}})
    assert "managedFields" not in untracked["metadata"]
    refused = await client.apply(A, config_map("a", {"k": "2"}), "one", code=409)
    assert refused["message"] == (
        'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.k'
    )
    forced = await client.apply(A, config_map("a", {"k": "2"}), "one", force="true")
    assert owners(forced)["before-first-apply:Update"] == {"f:data": {".": {}, "f:m": {}}}


async def test_status_is_owned_apart_from_the_rest() -> None:
    client = await with_foos()
    await client.apply(f"{FOOS}/a", foo("a", {"size": 2}), "spec", code=201)
    status = {**foo("a", {"size": 9}), "status": {"phase": "Ready"}}
    written = await client.apply(f"{FOOS}/a/status", status, "ctl")
    assert (written["spec"]["size"], written["status"]) == (2, {"phase": "Ready"})
    entries = {entry["manager"]: entry for entry in written["metadata"]["managedFields"]}
    assert entries["ctl"]["subresource"] == "status"
    assert entries["ctl"]["fieldsV1"] == {"f:status": {"f:phase": {}}}
    assert entries["spec"]["fieldsV1"] == {"f:spec": {"f:size": {}}}


async def test_a_status_sent_with_the_spec_is_neither_stored_nor_owned() -> None:
    client = await with_foos()
    config = {**foo("a", {"size": 2}), "status": {"phase": "Made up"}}
    created = await client.apply(f"{FOOS}/a", config, "spec", code=201)
    assert "status" not in created
    assert owners(created) == {"spec:Apply": {"f:spec": {"f:size": {}}}}


async def test_lists_of_custom_resources_merge_as_their_schema_says() -> None:
    client = await with_foos()
    path = f"{FOOS}/a"
    one = foo("a", {"tags": ["x"], "ports": [{"port": 1, "name": "one"}]})
    await client.apply(path, one, "one", code=201)
    two = foo("a", {"tags": ["y"], "ports": [{"port": 2}, {"port": 1, "protocol": "TCP"}]})
    both = await client.apply(path, two, "two")
    assert both["spec"]["tags"] == ["x", "y"]
    assert [port["port"] for port in both["spec"]["ports"]] == [2, 1]
    assert both["spec"]["ports"][1]["name"] == "one"


async def test_a_field_the_schema_does_not_know_cannot_be_applied() -> None:
    client = await with_foos()
    refused = await client.apply(f"{FOOS}/a", foo("a", {"typo": 1}), "one", code=500)
    assert refused["message"] == (
        "failed to create typed patch object (/a; example.com/v1, Kind=Foo): "
        ".spec.typo: field not declared in schema"
    )
    assert "reason" not in refused


async def test_an_apply_must_say_who_it_is_and_what_it_applies() -> None:
    client = api()
    nameless = await client.ask(
        "PATCH", A, config_map("a"), 422, media="application/apply-patch+yaml"
    )
    assert nameless["message"] == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: '
        "is required for apply patch"
    )
    assert (await client.apply(A, {"data": {}}, "one", code=400))["message"] == (
        "invalid object type: /, Kind="
    )
    owned = config_map("a", managedFields=[{"manager": "x"}])
    assert (await client.apply(A, owned, "one", code=400))["message"] == (
        "metadata.managedFields must be nil"
    )
    assert (await client.merge(A, {}, code=422, force="true"))["message"] == (
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: '
        "may not be specified for non-apply patch"
    )


async def test_a_resource_version_in_an_apply_is_a_lock() -> None:
    client = api()
    await client.apply(A, config_map("a", {"k": "1"}), "one", code=201)
    stale = config_map("a", {"k": "2"}, resourceVersion="1")
    assert (await client.apply(A, stale, "one", code=409))["reason"] == "Conflict"


async def test_yaml_can_be_applied() -> None:
    client = api()
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n"
    assert (await client.apply(A, text, "one", code=201))["data"] == {"k": "v"}


async def test_the_oldest_of_many_updaters_are_folded_into_one() -> None:
    client = api()
    await client.create(CMS, config_map("a", {"first": "v"}))
    for number in range(MAX_UPDATERS + 3):
        await advance(1)
        patch = {"data": {f"k{number}": "v"}}
        updated = await client.merge(A, patch, fieldManager=f"m{number:02}")
    managers = owners(updated)
    assert len(managers) == MAX_UPDATERS
    assert "f:k0" in managers["ancient-changes:Update"]["f:data"]
    assert f"m{MAX_UPDATERS + 2}:Update" in managers


async def with_foos() -> Api:
    client = api()
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    await client.create(path, foo_definition())
    return client
