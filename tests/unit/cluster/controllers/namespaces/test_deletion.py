"""A namespace that is deleted is emptied, pods first, and says what holds it."""

from __future__ import annotations

from datetime import UTC, datetime

from quintant.api.meta import Condition
from quintant.cluster.controllers import garbage
from quintant.cluster.controllers.namespaces.deletion import (
    LATEST_SECONDS,
    RemainingContent,
    conditions,
    count_remaining,
    declare,
    retry_seconds,
)
from quintant.core.object import Object, ObjectMeta
from quintant.core.resource import Resource
from unit.cluster.api import Api, JsonObject, config_map
from unit.cluster.controllers.running_controllers import controlled, exists, gone, until

SPACES = "/api/v1/namespaces"
MAPS = f"{SPACES}/a/configmaps"
PODS = f"{SPACES}/a/pods"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def pod(name: str, **metadata: object) -> JsonObject:
    spec = {"containers": [{"name": "a", "image": "a"}], "nodeName": "somewhere"}
    return {"metadata": {"name": name, **metadata}, "spec": spec}


async def make(api: Api, *finalizers: str) -> None:
    metadata = {"name": "a", "finalizers": list(finalizers)}
    await api.create(SPACES, {"metadata": metadata})


async def condition(api: Api, kind: str) -> JsonObject:
    found = (await api.get(f"{SPACES}/a"))["status"].get("conditions", [])
    return next((each for each in found if each["type"] == kind), {})


async def test_deleted_namespace_is_emptied_and_goes() -> None:
    async with controlled(declare) as api:
        await make(api)
        await api.create(MAPS, config_map("x"))
        await api.create(f"{SPACES}/default/configmaps", config_map("x"))
        marked = await api.delete(f"{SPACES}/a")
        assert marked["status"]["phase"] == "Terminating"
        await gone(api, f"{SPACES}/a")
        assert await api.names("/api/v1/configmaps") == ["x"]


async def test_namespace_says_what_holds_it() -> None:
    async with controlled(declare) as api:
        await make(api)
        await api.create(MAPS, config_map("x", finalizers=["x.y/z"]))
        await api.create(MAPS, config_map("y", finalizers=["x.y/z"]))
        await api.delete(f"{SPACES}/a")
        held = await until(lambda: condition(api, "NamespaceFinalizersRemaining"))
        assert (held["status"], held["reason"]) == ("True", "SomeFinalizersRemain")
        assert held["message"] == (
            "Some content in the namespace has finalizers remaining: x.y/z in 2 resource instances"
        )
        held = await condition(api, "NamespaceContentRemaining")
        assert (held["status"], held["reason"]) == ("True", "SomeResourcesRemain")
        assert held["message"] == (
            "Some resources are remaining: configmaps. has 2 resource instances"
        )
        for name in "xy":
            await api.merge(f"{MAPS}/{name}", {"metadata": {"finalizers": None}})
        await gone(api, f"{SPACES}/a")


async def test_everything_else_waits_for_the_pods() -> None:
    async with controlled(declare) as api:
        await make(api)
        await api.create(MAPS, config_map("x"))
        await api.create(PODS, pod("p"))
        await api.delete(f"{SPACES}/a")
        assert await exists(api, f"{MAPS}/x")
        assert (await api.get(f"{PODS}/p"))["metadata"]["deletionTimestamp"]
        await api.delete(f"{PODS}/p", {"gracePeriodSeconds": 0})
        await gone(api, f"{SPACES}/a")


async def test_other_finalizers_of_a_namespace_hold_it_when_it_is_empty() -> None:
    async with controlled(declare) as api:
        await make(api, "x.y/z")
        await api.delete(f"{SPACES}/a")
        assert await exists(api, f"{SPACES}/a")
        found = await api.get(f"{SPACES}/a")
        assert found["spec"] == {}
        reasons = [each["reason"] for each in found["status"]["conditions"]]
        assert reasons == [
            "ResourcesDiscovered",
            "ParsedGroupVersions",
            "ContentDeleted",
            "ContentRemoved",
            "ContentHasNoFinalizers",
        ]
        await api.merge(f"{SPACES}/a", {"metadata": {"finalizers": None}})
        await gone(api, f"{SPACES}/a")


async def test_orphans_of_a_namespace_go_with_it() -> None:
    async with controlled(declare, garbage.declare) as api:
        await make(api)
        await api.create(MAPS, config_map("x", finalizers=["orphan"]))
        await api.delete(f"{SPACES}/a")
        await gone(api, f"{SPACES}/a")


def test_what_is_left_is_counted() -> None:
    maps = Resource("", "v1", "ConfigMap", "configmaps")
    held = Object(metadata=ObjectMeta(name="a", finalizers=("x.y/z",)))
    left = count_remaining({maps: [held, Object()]})
    assert left == RemainingContent({"configmaps.": 2}, {"x.y/z": 1})
    assert not left.empty
    assert count_remaining({maps: []}).empty


def test_failures_are_told() -> None:
    told = conditions((), RemainingContent(failures=("one", "two")), NOW)
    failed = [each for each in told if each.status == "True"]
    assert [(each.type, each.reason, each.message) for each in failed] == [
        (
            "NamespaceDeletionContentFailure",
            "ContentDeletionFailed",
            "Failed to delete all resource types, 2 remaining: one, two",
        )
    ]


def test_conditions_keep_their_time_and_those_of_others() -> None:
    other = Condition(type="Other", status="True")
    first = conditions((other,), RemainingContent(), NOW)
    assert first[0] is other
    later = datetime(2026, 1, 2, tzinfo=UTC)
    assert conditions(first, RemainingContent(), later) == first


def test_patience_grows_with_age_up_to_a_limit() -> None:
    assert retry_seconds(0) < retry_seconds(10) < retry_seconds(1000) == LATEST_SECONDS
