"""Promises of quintant.runtime.cache.client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace as having
from typing import Any

import pytest
from msgspec.structs import replace as struct_replace

from quintant.client.rest import GRACE_SECONDS
from quintant.client.transport import ApiRequest
from quintant.core.errors import (
    AlreadyExists,
    ConfigError,
    Conflict,
    ConnectError,
    Invalid,
    NotLeader,
    Undecodable,
)
from quintant.core.object import Metadata, Object, Request, replace
from quintant.runtime.cache.client import Client
from quintant.testing.loop import advance, settle
from unit.runtime.client_testbed import ClientTestbed
from unit.runtime.kinds import (
    Chart,
    ChartView,
    Harbour,
    HarbourStatus,
    Mast,
    Ship,
    ShipSpec,
    ShipStatus,
    chart,
    meta,
    ship,
)
from unit.runtime.scripted_transport import deleted, modified

A = Request("a", "sea")
CHARTS = "/api/v1/namespaces/sea/charts"
SHIPS = "/apis/sea.quintant.dev/v1/namespaces/sea/ships"
SUCCESS = {"kind": "Status", "status": "Success", "metadata": {}}

Write = Callable[[Client], Awaitable[Any]]
WRITES: dict[str, Write] = {
    "create": lambda client: client.create(ship("a", "1")),
    "apply": lambda client: client.apply(ship("a", "1")),
    "patch": lambda client: client.patch(ship("a", "1", rig="ketch"), since=ship("a", "1")),
    "annotate": lambda client: client.annotate(ship("a", "1"), {"x": "y"}),
    "set_status": lambda client: client.set_status(ship("a", "1"), ShipStatus(afloat=True)),
    "amend": lambda client: client.json_patch(Ship, meta("a"), []),
    "delete": lambda client: client.delete(ship("a", "1")),
    "delete_all": lambda client: client.delete_all(Ship, "sea"),
    "raw": lambda client: client.raw("DELETE", f"{SHIPS}/a?orphan=true"),
    "sub": lambda client: client.subresource(ship("a", "1"), "scale").patch({}),
}
all_writes = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


def seen(testbed: ClientTestbed, key: Request = A, kind: type[Object] = Ship) -> str | None:
    """The version that a cached read gives."""
    found = testbed.caches.informer_for(kind).store.get(key)
    return found.metadata.resource_version if found is not None else None


@pytest.fixture
async def testbed() -> AsyncIterator[ClientTestbed]:
    testbed = ClientTestbed()
    yield testbed
    await testbed.close()


def fenced(client: Client) -> Client:
    """The same client, behind a fence that lets nothing pass."""

    def fence(_: ApiRequest | None = None) -> None:
        raise NotLeader("the lease is lost")

    return having(client, rest=struct_replace(client.rest, fence=fence))


async def test_a_closed_fence_can_be_asked_before_something_outside_is_changed(
    testbed: ClientTestbed,
) -> None:
    testbed.client.fence()
    with pytest.raises(NotLeader):
        fenced(testbed.client).fence()


async def test_what_is_so_already_passes_a_closed_fence_for_nothing_is_sent(
    testbed: ClientTestbed,
) -> None:
    await testbed.watched(Ship, ship("a", "1"))

    assert await fenced(testbed.client).annotate(ship("a", "1"), {}) == ship("a", "1")


@all_writes
async def test_every_write_says_what_the_client_says_of_all(
    testbed: ClientTestbed, write: Write
) -> None:
    rest = struct_replace(testbed.client.rest, write_query={"timeout": "5s"})
    doing = asyncio.ensure_future(write(having(testbed.client, rest=rest)))
    asked = await testbed.server.asked()

    assert asked.query["timeout"] == "5s"
    asked.answer(ship("a", "2"))
    await doing


# Every write.


@all_writes
async def test_no_write_passes_a_closed_fence(testbed: ClientTestbed, write: Write) -> None:
    with pytest.raises(NotLeader):
        await write(fenced(testbed.client))

    assert testbed.server.calls == []


@all_writes
async def test_every_write_has_the_time_that_a_leader_has(
    testbed: ClientTestbed, write: Write
) -> None:
    doing = asyncio.ensure_future(write(testbed.client))
    asked = await testbed.server.asked()

    assert asked.call.timeout == 3.0
    asked.answer(ship("a", "2"))
    await doing


@all_writes
async def test_a_dry_run_is_a_dry_run_for_every_write(testbed: ClientTestbed, write: Write) -> None:
    await testbed.watched(Ship, ship("a", "1"))
    client = having(testbed.client, dry_run=True)
    doing = asyncio.ensure_future(write(client))
    asked = await testbed.server.asked()
    if asked.call.method == "DELETE" and asked.call.body:
        assert asked.body["dryRun"] == ["All"]
    else:
        assert asked.query["dryRun"] == "All"
    asked.answer(ship("a", "9"))
    await doing

    assert seen(testbed) == "1"
    assert len(client.applied) == 0


@all_writes
async def test_no_write_is_torn_by_cancellation(testbed: ClientTestbed, write: Write) -> None:
    doing = asyncio.ensure_future(write(testbed.client))
    asked = await testbed.server.asked()
    doing.cancel()
    await advance(GRACE_SECONDS - 1)
    assert not asked.closed

    asked.answer(ship("a", "2"))
    await settle()

    assert doing.cancelled()
    assert not asked.cancelled


@all_writes
async def test_a_write_without_an_answer_is_let_go_in_the_end(
    testbed: ClientTestbed, write: Write
) -> None:
    doing = asyncio.ensure_future(write(testbed.client))
    asked = await testbed.server.asked()
    doing.cancel()
    await advance(GRACE_SECONDS)
    await settle()

    assert doing.cancelled()
    assert asked.cancelled


@all_writes
async def test_a_write_that_finds_no_server_says_so(testbed: ClientTestbed, write: Write) -> None:
    doing = asyncio.ensure_future(write(testbed.client))
    (await testbed.server.asked()).refuse()

    with pytest.raises(ConnectError):
        await doing


@pytest.mark.parametrize("name", ["create", "apply", "patch", "annotate", "set_status", "amend"])
async def test_a_write_is_seen_at_once(testbed: ClientTestbed, name: str) -> None:
    await testbed.watched(Ship, ship("a", "1"))

    await testbed.answered(_call(WRITES[name], testbed.client), ship("a", "9"))

    assert seen(testbed) == "9"


@pytest.mark.parametrize("name", ["create", "apply", "patch", "annotate", "set_status", "amend"])
async def test_a_write_that_outlives_its_reconcile_is_seen_too(
    testbed: ClientTestbed, name: str
) -> None:
    await testbed.watched(Ship, ship("a", "1"))
    doing = asyncio.ensure_future(WRITES[name](testbed.client))
    asked = await testbed.server.asked()
    doing.cancel()
    await settle()

    asked.answer(ship("a", "9"))
    await settle()

    assert doing.cancelled()
    assert seen(testbed) == "9"


@pytest.mark.parametrize("name", ["create", "apply", "patch", "annotate", "set_status", "delete"])
async def test_metadata_alone_is_not_written(testbed: ClientTestbed, name: str) -> None:
    await testbed.watched(Metadata[Chart], chart("a", "1"))
    obj = await testbed.client.get(Metadata[Chart], "a", "sea")
    labelled = replace(obj, metadata=replace(obj.metadata, labels={"x": "y"}))
    write = getattr(testbed.client, name)
    more: dict[str, Any] = {"patch": {"since": obj}}.get(name, {})
    given: dict[str, list[Any]] = {"set_status": [ShipStatus()], "annotate": [{"x": "y"}]}

    with pytest.raises(ConfigError, match="Metadata alone is not a kind\nbecause: an object read"):
        await testbed.unasked(write(labelled, *given.get(name, []), **more))


async def _call(write: Write, client: Client) -> Any:
    return await write(client)


# Create.


async def test_a_created_object_is_returned_as_stored(testbed: ClientTestbed) -> None:
    stored, [asked] = await testbed.answered(
        testbed.client.create(chart("a", data={"x": "y"})), chart("a", "7", data={"x": "y"})
    )

    assert stored == chart("a", "7", data={"x": "y"})
    assert (asked.call.method, asked.call.path) == ("POST", CHARTS)
    assert asked.query == {"fieldManager": "tester"}
    assert asked.body["kind"] == "Chart"
    assert not asked.call.idempotent


async def test_a_taken_name_is_told(testbed: ClientTestbed) -> None:
    doing, asked = await testbed.ask(testbed.client.create(chart("a")))
    asked.fail(409, "taken", "AlreadyExists")

    with pytest.raises(AlreadyExists):
        await doing


async def test_a_stored_object_that_does_not_fit_is_told(testbed: ClientTestbed) -> None:
    with pytest.raises(Undecodable):
        await testbed.answered(
            testbed.client.create(ship("a")), b'{"metadata":{"name":"a"},"spec":{"crew":"many"}}'
        )


async def test_a_write_is_seen_in_every_projection(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart)
    await testbed.watched(ChartView)

    await testbed.answered(testbed.client.create(chart("a")), chart("a", "7"))

    assert seen(testbed, kind=Chart) == seen(testbed, kind=ChartView) == "7"


# Apply.


async def test_an_apply_is_sent_as_the_server_wants_it(testbed: ClientTestbed) -> None:
    stored, [asked] = await testbed.answered(
        testbed.client.apply(chart("a", "3", data={"x": "y"})), chart("a", "7")
    )

    assert stored == chart("a", "7")
    assert (asked.call.method, asked.call.path) == ("PATCH", f"{CHARTS}/a")
    assert asked.call.headers["content-type"] == "application/apply-patch+yaml"
    assert asked.query == {"fieldManager": "tester", "force": "true"}
    assert "resourceVersion" not in asked.body["metadata"]
    assert asked.call.idempotent


async def test_an_apply_may_respect_other_managers(testbed: ClientTestbed) -> None:
    _, [asked] = await testbed.answered(
        testbed.client.apply(chart("a"), force=False), chart("a", "7")
    )

    assert asked.query == {"fieldManager": "tester"}


async def test_an_apply_without_a_cache_is_always_sent(testbed: ClientTestbed) -> None:
    for version in ("7", "7"):
        await testbed.answered(testbed.bare.apply(chart("a")), chart("a", version))


async def test_the_same_apply_is_sent_once(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart)
    wanted = chart("a", uid="", data={"x": "y"})
    stored, _ = await testbed.answered(
        testbed.client.apply(wanted), chart("a", "7", uid="u", data={"x": "y"})
    )

    assert await testbed.unasked(testbed.client.apply(wanted)) == stored
    testbed.stream.say(modified(stored))
    await settle()
    assert await testbed.unasked(testbed.client.apply(wanted)) == stored


async def test_another_body_is_sent(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart)
    await testbed.answered(testbed.client.apply(chart("a", data={"x": "y"})), chart("a", "7"))

    await testbed.answered(testbed.client.apply(chart("a", data={"x": "z"})), chart("a", "8"))


async def test_drift_is_put_right_once(testbed: ClientTestbed) -> None:
    await testbed.watched(Ship)
    wanted = ship("a", labels={"x": "y"})
    await testbed.answered(
        testbed.client.apply(wanted), ship("a", "7", generation=1, labels={"x": "y"})
    )

    testbed.stream.say(modified(ship("a", "8", generation=1, labels={"x": "other"})))
    await settle()
    mended = ship("a", "9", generation=1, labels={"x": "y"})
    await testbed.answered(testbed.client.apply(wanted), mended)

    assert await testbed.unasked(testbed.client.apply(wanted)) == mended


async def test_a_new_status_causes_no_apply(testbed: ClientTestbed) -> None:
    await testbed.watched(Ship)
    wanted = ship("a")
    await testbed.answered(testbed.client.apply(wanted), ship("a", "7", generation=1))

    testbed.stream.say(
        modified(replace(ship("a", "8", generation=1), status=ShipStatus(afloat=True)))
    )
    await settle()

    known = await testbed.unasked(testbed.client.apply(wanted))
    assert known.metadata.resource_version == "8"


async def test_a_deleted_object_is_applied_anew(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart)
    wanted = chart("a", uid="")
    await testbed.answered(testbed.client.apply(wanted), chart("a", "7", uid="first"))
    testbed.stream.say(
        modified(chart("a", "7", uid="first")), deleted(chart("a", "8", uid="first"))
    )
    await settle()

    await testbed.answered(testbed.client.apply(wanted), chart("a", "9", uid="second"))


async def test_an_apply_to_one_object_is_not_held_back_by_its_namesake(
    testbed: ClientTestbed,
) -> None:
    await testbed.watched(Chart)
    await testbed.answered(testbed.client.apply(chart("a", uid="old")), chart("a", "7", uid="new"))

    await testbed.answered(testbed.client.apply(chart("a", uid="old")), chart("a", "7", uid="new"))


async def test_each_manager_applies_for_itself(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart)
    await testbed.answered(testbed.client.apply(chart("a")), chart("a", "7"))

    _, [asked] = await testbed.answered(
        testbed.client.with_field_manager("other").apply(chart("a")), chart("a", "7")
    )

    assert asked.query["fieldManager"] == "other"


async def test_a_kind_watched_in_two_selections_can_be_applied(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart, labels={"x": "1"})
    await testbed.watched(Chart, labels={"x": "2"})
    wanted = chart("a", labels={"x": "2"})

    stored, _ = await testbed.answered(
        testbed.client.apply(wanted), chart("a", "7", labels={"x": "2"})
    )

    assert await testbed.unasked(testbed.client.apply(wanted)) == stored


async def test_no_status_is_applied_with_its_object(testbed: ClientTestbed) -> None:
    obj = Harbour(metadata=meta(), status=HarbourStatus(berths=3))

    _, [asked] = await testbed.answered(testbed.client.apply(obj), obj)

    assert "status" not in asked.body


# Patch.


async def test_a_patch_is_the_difference_and_the_version_it_is_from(testbed: ClientTestbed) -> None:
    old = ship("a", "3", labels={"x": "1"})
    new = replace(old, spec=ShipSpec(rig="ketch"), metadata=meta("a", "3", labels={"x": "2"}))

    stored, [asked] = await testbed.answered(testbed.client.patch(new, since=old), ship("a", "7"))

    assert stored == ship("a", "7")
    assert (asked.call.method, asked.call.path) == ("PATCH", f"{SHIPS}/a")
    assert asked.call.headers["content-type"] == "application/merge-patch+json"
    assert asked.query == {"fieldManager": "tester"}
    assert asked.body == {
        "metadata": {"labels": {"x": "2"}, "resourceVersion": "3"},
        "spec": {"rig": "ketch"},
    }
    assert asked.call.idempotent


async def test_a_patch_of_nothing_is_not_sent(testbed: ClientTestbed) -> None:
    old = ship("a", "3")

    assert await testbed.unasked(testbed.client.patch(old, since=old)) is old


async def test_a_patch_may_go_to_the_status(testbed: ClientTestbed) -> None:
    old = ship("a", "3")
    new = replace(old, status=ShipStatus(port="x"))

    _, [asked] = await testbed.answered(
        testbed.client.patch(new, since=old, sub="status"), ship("a", "7")
    )

    assert asked.call.path == f"{SHIPS}/a/status"
    assert asked.body == {"metadata": {"resourceVersion": "3"}, "status": {"port": "x"}}


async def test_a_patch_of_what_has_changed_is_a_conflict(testbed: ClientTestbed) -> None:
    with pytest.raises(Conflict):
        await testbed.answered(
            testbed.client.patch(ship("a", "3", rig="ketch"), since=ship("a", "3")), 409
        )


async def test_a_patch_that_would_lose_fields_is_not_sent(testbed: ClientTestbed) -> None:
    old = Harbour(metadata=meta("a", "3"), piers=(Mast(height=1),))
    new = replace(old, piers=(Mast(height=2),))

    with pytest.raises(ConfigError, match="the list piers changed"):
        await testbed.unasked(testbed.client.patch(new, since=old))


# Annotations.


async def test_annotations_are_set_and_removed_on_this_very_object(testbed: ClientTestbed) -> None:
    obj = ship("a", "3", annotations={"x": "1", "y": "1"})

    stored, [asked] = await testbed.answered(
        testbed.client.annotate(obj, {"x": "2", "y": None}, sub="status"), ship("a", "7")
    )

    assert stored == ship("a", "7")
    assert (asked.call.method, asked.call.path) == ("PATCH", f"{SHIPS}/a/status")
    assert asked.call.headers["content-type"] == "application/merge-patch+json"
    assert asked.query == {"fieldManager": "tester"}
    annotations = {"x": "2", "y": None}
    assert asked.body == {"metadata": {"uid": obj.metadata.uid, "annotations": annotations}}
    assert asked.call.idempotent


async def test_annotations_that_are_so_already_are_not_sent(testbed: ClientTestbed) -> None:
    await testbed.watched(Ship, known := ship("a", "1", annotations={"x": "1"}))

    found = await testbed.unasked(testbed.client.annotate(ship("a"), {"x": "1", "y": None}))

    assert found == known


async def test_annotations_of_a_namesake_count_for_nothing(testbed: ClientTestbed) -> None:
    await testbed.watched(Ship, ship("a", "1", annotations={"x": "1"}))
    other = replace(ship("a"), metadata=replace(meta("a"), uid="another"))

    with pytest.raises(Invalid):
        await testbed.answered(testbed.client.annotate(other, {"x": "1"}), 422)


# Status.


async def test_a_status_is_applied_alone_through_its_subresource(testbed: ClientTestbed) -> None:
    obj = ship("a", "3", labels={"x": "y"})

    _, [asked] = await testbed.answered(
        testbed.client.set_status(obj, ShipStatus(afloat=True)), ship("a", "7")
    )

    assert (asked.call.method, asked.call.path) == ("PATCH", f"{SHIPS}/a/status")
    assert asked.call.headers["content-type"] == "application/apply-patch+yaml"
    assert asked.query == {"fieldManager": "tester", "force": "true"}
    assert asked.body == {
        "apiVersion": "sea.quintant.dev/v1",
        "kind": "Ship",
        "metadata": {"name": "a", "namespace": "sea", "uid": "a"},
        "status": {"afloat": True},
    }


async def test_a_status_that_is_so_already_is_not_sent(testbed: ClientTestbed) -> None:
    stale = ship("a", "3")
    known = replace(ship("a", "4"), status=ShipStatus(afloat=True))
    await testbed.watched(Ship, known)

    assert await testbed.unasked(testbed.client.set_status(stale, ShipStatus(afloat=True))) == known


async def test_without_a_cache_the_objects_own_status_is_compared(testbed: ClientTestbed) -> None:
    obj = replace(ship("a", "3"), status=ShipStatus(afloat=True))

    assert await testbed.unasked(testbed.bare.set_status(obj, ShipStatus(afloat=True))) is obj
    await testbed.answered(testbed.bare.set_status(obj, ShipStatus(afloat=False)), ship("a", "7"))


async def test_a_status_shared_with_others_is_sent_once(testbed: ClientTestbed) -> None:
    obj = ship("a", "3")
    await testbed.watched(Ship, obj)
    both = replace(ship("a", "7"), status=ShipStatus(afloat=True, port="theirs"))
    await testbed.answered(testbed.client.set_status(obj, ShipStatus(afloat=True)), both)
    assert await testbed.unasked(testbed.client.set_status(obj, ShipStatus(afloat=True))) == both

    labelled = replace(
        ship("a", "8", labels={"x": "y"}), status=ShipStatus(afloat=True, port="theirs")
    )
    testbed.stream.say(modified(labelled))
    await settle()
    assert (
        await testbed.unasked(testbed.client.set_status(obj, ShipStatus(afloat=True))) == labelled
    )

    testbed.stream.say(modified(replace(ship("a", "9"), status=ShipStatus(port="theirs"))))
    await settle()
    await testbed.answered(testbed.client.set_status(obj, ShipStatus(afloat=True)), both)


async def test_the_status_of_a_namesake_is_not_ours(testbed: ClientTestbed) -> None:
    await testbed.watched(Ship, replace(ship("a", "4", uid="new"), status=ShipStatus(afloat=True)))
    gone = ship("a", "3", uid="old")

    with pytest.raises(Conflict):
        await testbed.answered(testbed.client.set_status(gone, ShipStatus(afloat=True)), 409)


async def test_a_kind_without_a_status_has_none_to_set(testbed: ClientTestbed) -> None:
    with pytest.raises(ConfigError, match=r"Chart has no status subresource\ntry: declare it"):
        await testbed.unasked(testbed.client.set_status(chart("a"), ShipStatus()))


# Amend.


async def test_an_amendment_is_a_json_patch_and_needs_no_typed_object(
    testbed: ClientTestbed,
) -> None:
    await testbed.watched(Ship)
    operations = [{"op": "remove", "path": "/metadata/finalizers/0"}]
    misfit = b'{"metadata":{"name":"a","namespace":"sea"},"spec":{"crew":"many"}}'

    _, [asked] = await testbed.answered(
        testbed.client.json_patch(Ship, meta("a"), operations), misfit
    )

    assert (asked.call.method, asked.call.path) == ("PATCH", f"{SHIPS}/a")
    assert asked.call.headers["content-type"] == "application/json-patch+json"
    assert asked.body == operations
    assert not asked.call.idempotent
    assert seen(testbed) is None


# Delete.


async def test_a_deletion_means_this_very_object(testbed: ClientTestbed) -> None:
    _, [asked] = await testbed.answered(testbed.client.delete(chart("a", "3", uid="u")), SUCCESS)

    assert (asked.call.method, asked.call.path) == ("DELETE", f"{CHARTS}/a")
    assert asked.body == {"propagationPolicy": "Background", "preconditions": {"uid": "u"}}


async def test_a_deletion_may_wait_for_dependants_and_for_nobodys_change(
    testbed: ClientTestbed,
) -> None:
    _, [asked] = await testbed.answered(
        testbed.client.delete(chart("a", "3", uid="u"), foreground=True, unchanged=True), SUCCESS
    )

    assert asked.body == {
        "propagationPolicy": "Foreground",
        "preconditions": {"uid": "u", "resourceVersion": "3"},
    }


async def test_all_that_is_selected_is_deleted_in_one_request(testbed: ClientTestbed) -> None:
    selected = testbed.client.delete_all(Chart, "sea", labels={"a": "1"}, fields={"b": "2"})
    _, [asked] = await testbed.answered(selected, SUCCESS)

    assert (asked.call.method, asked.call.path) == ("DELETE", CHARTS)
    assert asked.query == {"labelSelector": "a=1", "fieldSelector": "b=2"}
    assert asked.body == {"propagationPolicy": "Background"}


async def test_a_collection_of_no_namespace_is_not_deleted(testbed: ClientTestbed) -> None:
    with pytest.raises(ConfigError, match="without a namespace"):
        await testbed.client.delete_all(Chart)


async def test_unknown_fields_are_refused_for_a_strict_client(testbed: ClientTestbed) -> None:
    strict = having(testbed.client, validation="Strict")
    for write in (strict.create(ship("a")), strict.apply(ship("a"))):
        _, [asked] = await testbed.answered(write, ship("a", "1"))
        assert asked.query["fieldValidation"] == "Strict"


async def test_an_object_without_uid_is_deleted_by_name(testbed: ClientTestbed) -> None:
    _, [asked] = await testbed.answered(testbed.client.delete(chart("a", uid="")), SUCCESS)

    assert asked.body["preconditions"] == {}


@pytest.mark.parametrize("answer", [SUCCESS, 404, chart("a", "3"), b""])
async def test_what_is_deleted_is_not_seen_any_more(testbed: ClientTestbed, answer: Any) -> None:
    await testbed.watched(Chart, chart("a", "3"))

    await testbed.answered(testbed.client.delete(chart("a", "3")), answer)
    assert seen(testbed, kind=Chart) is None

    testbed.stream.say(modified(chart("a", "6")))
    await settle()
    assert seen(testbed, kind=Chart) is None


async def test_what_was_deleted_before_it_was_seen_is_not_seen(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart)

    await testbed.answered(testbed.client.delete(chart("a", "7")), SUCCESS)
    testbed.stream.say(modified(chart("a", "7")))
    await settle()

    assert seen(testbed, kind=Chart) is None


async def test_what_a_finalizer_holds_is_seen_going(testbed: ClientTestbed) -> None:
    await testbed.watched(Ship, ship("a", "3", finalizers=("f",)))
    going = ship("a", "7", finalizers=("f",), deletion_timestamp="2026-01-01T00:00:00Z")

    await testbed.answered(testbed.client.delete(ship("a", "3")), going)

    found = await testbed.client.get(Ship, "a", "sea")
    assert found.deleting


async def test_a_namesake_is_not_deleted(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart, chart("a", "3"))

    with pytest.raises(Conflict):
        await testbed.answered(testbed.client.delete(chart("a", "3")), 409)

    assert seen(testbed, kind=Chart) == "3"


async def test_a_deletion_without_caches_is_a_deletion(testbed: ClientTestbed) -> None:
    going = ship("a", "7", deletion_timestamp="2026-01-01T00:00:00Z")
    for answer in (SUCCESS, 404, going):
        await testbed.answered(testbed.bare.delete(ship("a", "3")), answer)


async def test_what_is_deleted_is_forgotten_as_applied(testbed: ClientTestbed) -> None:
    await testbed.answered(testbed.client.apply(chart("a")), chart("a", "7"))
    assert len(testbed.client.applied) == 1

    await testbed.answered(testbed.client.delete(chart("a", "7")), SUCCESS)

    assert len(testbed.client.applied) == 0


async def test_an_object_without_a_name_never_means_all_of_them(testbed: ClientTestbed) -> None:
    for nameless in (Chart(metadata=meta("")), Chart()):
        with pytest.raises(ConfigError, match="without a name"):
            await testbed.unasked(testbed.client.delete(nameless))


# Anything else.


async def test_any_request_can_be_made(testbed: ClientTestbed) -> None:
    found, [asked] = await testbed.answered(
        testbed.client.raw("GET", "/version?a=1&b=&c=x%20y", headers={"accept": "text/plain"}),
        b"body",
    )

    assert found == b"body"
    assert (asked.call.path, asked.query) == ("/version", {"a": "1", "b": "", "c": "x y"})
    assert asked.call.headers == {"accept": "text/plain"}

    _, [asked] = await testbed.answered(testbed.client.raw("POST", "/x", body=b"{}"), b"")
    assert (asked.call.method, asked.call.body) == ("POST", b"{}")


async def test_a_raw_read_passes_a_closed_fence(testbed: ClientTestbed) -> None:
    client = having(fenced(testbed.client), dry_run=True)

    _, [asked] = await testbed.answered(client.raw("GET", "/version"), b"")

    assert asked.query == {}
