"""Promises of quintant.runtime.cache.informer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.core.object import Object, ObjectMeta, Request
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.watch.observer import RestartReason
from quintant.testing.loop import VirtualLoop, settle
from unit.runtime.kinds import Ocean, Ship, meta, ship
from unit.runtime.scripted_transport import (
    Asked,
    ScriptedTransport,
    added,
    bookmark,
    deleted,
    error,
    event,
    modified,
)

A, B = Request("a", "sea"), Request("b", "sea")


def misfit(name: str = "a", version: str = "9", *, uid: str = "", generation: int = 1) -> Any:
    head = {
        "name": name, "namespace": "sea", "uid": uid or name, "resourceVersion": version,
        "generation": generation,
    }  # fmt: skip
    return {"metadata": head, "spec": {"crew": "many"}}


def said(change: ObjectChange[Any]) -> str:
    """A change in short: versions before and after, and what is special about it."""
    metas = [obj.metadata if obj is not None else ObjectMeta() for obj in change[:2]]
    old, new = (each.resource_version for each in metas)
    marks = ("!" if change.initial else "") + ("" if change.final else "~")
    return f"{metas[0].name or metas[1].name}:{old}>{new}{marks}"


class Counts:
    """An observer that counts."""

    def __init__(self) -> None:
        self.reasons: list[tuple[str, RestartReason]] = []
        self.hits = 0

    def restarted(self, kind: str, reason: RestartReason) -> None:
        self.reasons.append((kind, reason))

    def overlaid(self) -> None:
        self.hits += 1


class World:
    """An informer at work, and what it tells."""

    def __init__(self, kind: type[Object] = Ship, namespaces: Sequence[str] = (), **more: Any):
        self.server, self.counts = ScriptedTransport(), Counts()
        self.informer: Informer[Any] = Informer(
            Rest(self.server),
            kind,
            random=Random(0),
            namespaces=namespaces,
            observer=self.counts,
            **more,
        )
        self.told: list[str] = []
        self.informer.subscribe(lambda change: self.told.append(said(change)))
        self._task = asyncio.ensure_future(self.informer.run())

    async def close(self) -> None:
        assert not self._task.done()
        self._task.cancel()
        await asyncio.wait({self._task})

    async def state(self, *objects: Any, version: str = "5") -> Asked:
        """Answer the next request with a whole state."""
        asked = await self.server.asked()
        asked.accept()
        asked.say(*map(added, objects), bookmark(version, initial=True))
        await settle()
        return asked

    async def anew(self, asked: Asked, *objects: Any, version: str = "20") -> Asked:
        """Lose history, and answer with another state; returns what was not told before."""
        asked.say(error(410))
        self.told.clear()
        return await self.state(*objects, version=version)

    def versions(self) -> dict[str, str]:
        return {obj.metadata.name: obj.metadata.resource_version for obj in self.informer.store}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    await world.close()


# Changes.


async def test_the_first_state_is_told_as_initial(world: World) -> None:
    waiting = asyncio.ensure_future(world.informer.wait_synced())

    await world.state(ship("a", "1"), ship("b", "2"))

    await waiting
    assert world.told == ["a:>1!", "b:>2!"]


async def test_each_event_is_told_as_a_difference(world: World) -> None:
    asked = await world.state(ship("a", "1"))
    world.told.clear()

    asked.say(modified(ship("a", "6")), added(ship("b", "7")), deleted(ship("a", "8")))
    await settle()

    assert world.told == ["a:1>6", "b:>7", "a:8>"]
    assert world.versions() == {"b": "7"}


async def test_a_deletion_carries_the_last_state(world: World) -> None:
    asked = await world.state(ship("a", "1"))
    changes: list[ObjectChange[Ship]] = []
    world.informer.subscribe(changes.append)

    asked.say(deleted(ship("a", "8", rig="ketch")))
    await settle()

    assert changes[-1] == ObjectChange(ship("a", "8", rig="ketch"), None)


async def test_the_deletion_of_what_was_never_seen_is_no_news(world: World) -> None:
    asked = await world.state()

    asked.say(deleted(ship("a", "8")))
    await settle()

    assert world.told == []


async def test_an_event_sent_twice_is_told_once(world: World) -> None:
    asked = await world.state(ship("a", "1"))
    world.told.clear()

    asked.say(modified(ship("a", "6")), modified(ship("a", "6")))
    await settle()

    assert world.told == ["a:1>6"]


async def test_a_handler_sees_the_store_as_the_change_left_it(world: World) -> None:
    seen: list[tuple[str, Any]] = []

    def look(change: ObjectChange[Any]) -> None:
        found = world.informer.store.get(A)
        seen.append((said(change), found and found.metadata.resource_version))

    world.informer.subscribe(look)
    asked = await world.state(ship("a", "1"))
    asked.say(modified(ship("a", "6")), modified(ship("a", "7", uid="new")))
    asked.say(deleted(ship("a", "8", uid="new")))
    await settle()

    assert seen == [("a:>1!", "1"), ("a:1>6", "6"), ("a:6>~", None), ("a:>7", "7"), ("a:8>", None)]


async def test_a_namesake_is_a_deletion_and_an_addition(world: World) -> None:
    asked = await world.state(ship("a", "1", uid="old"))
    world.told.clear()

    asked.say(modified(ship("a", "6", uid="new")))
    await settle()

    assert world.told == ["a:1>~", "a:>6"]


async def test_the_deletion_of_an_unseen_namesake_is_told_of_the_one_seen(world: World) -> None:
    asked = await world.state(ship("a", "1", uid="old"))
    world.told.clear()

    asked.say(deleted(ship("a", "8", uid="new")))
    await settle()

    assert world.told == ["a:1>"]
    assert world.versions() == {}


# A state read anew.


async def test_an_unchanged_state_is_no_news(world: World) -> None:
    asked = await world.state(ship("a", "1"), ship("b", "2"))

    await world.anew(asked, ship("a", "1"), ship("b", "2"))

    assert world.told == []


async def test_a_new_state_is_told_as_differences(world: World) -> None:
    world.informer.store.add_index("rig", lambda obj: [obj.spec.rig])
    asked = await world.state(ship("a", "1"), ship("b", "2"), ship("c", "3", uid="old"))

    await world.anew(asked, ship("b", "9"), ship("c", "10", uid="new"), ship("d", "11"))

    assert sorted(world.told) == ["a:1>~", "b:2>9", "c:3>~", "c:>10", "d:>11"]
    assert world.told.index("c:3>~") < world.told.index("c:>10")
    assert world.versions() == {"b": "9", "c": "10", "d": "11"}
    assert len(world.informer.store.index("rig")) == 3


async def test_what_vanished_behind_our_own_deletion_is_told(world: World) -> None:
    asked = await world.state(ship("a", "1"))
    world.informer.record_delete(A, "a", "1")
    assert world.versions() == {}

    await world.anew(asked)

    assert world.told == ["a:1>~"]


async def test_what_vanished_behind_our_own_write_is_told_and_the_write_is_gone(
    world: World,
) -> None:
    asked = await world.state(ship("a", "1"))
    world.informer.record_write(ship("a", "7"))

    await world.anew(asked, version="8")

    assert world.told == ["a:1>~"]
    assert world.versions() == {}


async def test_what_we_wrote_after_a_state_was_read_stays(world: World) -> None:
    asked = await world.state(ship("a", "1"))
    world.informer.record_write(ship("a", "9"))
    world.informer.record_write(ship("b", "10"))

    await world.anew(asked, version="8")

    assert world.told == ["a:1>~"]
    assert world.versions() == {"a": "9", "b": "10"}


async def test_what_we_wrote_and_is_gone_before_the_watch_told_of_it_is_reported_deleted(
    world: World,
) -> None:
    asked = await world.state()
    world.informer.record_write(ship("b", "10"))

    await world.anew(asked, version="12")

    assert world.told == ["b:10>~"]
    assert world.versions() == {}


# Own writes.


async def test_an_own_write_is_told_when_the_watch_brings_it(world: World) -> None:
    asked = await world.state(ship("a", "1"))
    world.told.clear()

    world.informer.record_write(ship("a", "6"))
    world.informer.record_write(ship("b", "7"))
    assert world.told == []
    assert world.versions() == {"a": "6", "b": "7"}

    asked.say(modified(ship("a", "6")), added(ship("b", "7")))
    await settle()
    assert world.told == ["a:1>6", "b:>7"]


async def test_an_own_write_that_the_watch_is_past_is_no_news(world: World) -> None:
    asked = await world.state()
    asked.say(added(ship("a", "6")), deleted(ship("a", "8")))
    await settle()

    world.informer.record_write(ship("a", "7"))

    assert world.versions() == {}


async def test_writes_outside_the_selection_stay_outside() -> None:
    world = World(namespaces=["sea"], labels={"fleet": "ours", "flag": ""})
    await world.state()

    world.informer.record_write(ship("a", "6", labels={"fleet": "ours", "flag": "any"}))
    world.informer.record_write(ship("b", "7", labels={"fleet": "theirs", "flag": "any"}))
    world.informer.record_write(ship("c", "8", labels={"fleet": "ours"}))
    world.informer.record_write(
        ship("d", "9", namespace="lake", labels={"fleet": "ours", "flag": ""})
    )

    assert world.versions() == {"a": "6"}
    await world.close()


async def test_a_write_that_leaves_the_selection_is_hidden() -> None:
    world = World(labels={"fleet": "ours"})
    await world.state(ship("a", "1", labels={"fleet": "ours"}))

    world.informer.record_write(ship("a", "6"))

    assert world.versions() == {}
    await world.close()


async def test_where_fields_select_only_what_is_known_is_overlaid() -> None:
    world = World(fields={"spec.port": "x"})
    await world.state(ship("a", "1"))

    world.informer.record_write(ship("a", "6"))
    world.informer.record_write(ship("b", "7"))

    assert world.versions() == {"a": "6"}
    await world.close()


async def test_reads_answered_by_an_own_write_are_counted(world: World) -> None:
    await world.state(ship("a", "1"), ship("b", "2"))
    world.informer.record_write(ship("a", "6"))

    assert world.informer.get(A) == ship("a", "6")
    assert world.informer.get(B) == ship("b", "2")
    assert world.counts.hits == 1


# Misfits.


async def test_a_misfit_keeps_its_last_good_version(world: World) -> None:
    asked = await world.state(ship("a", "1"))
    heard: list[Request] = []
    world.informer.on_undecodable(heard.append)
    world.told.clear()

    asked.say(event("MODIFIED", misfit("a", "6")))
    await settle()

    assert world.versions() == {"a": "1"}
    assert world.told == []
    assert heard == [A]
    assert world.informer.undecodable[A].meta.resource_version == "6"
    assert "Expected `int" in world.informer.undecodable[A].why


async def test_a_later_good_version_heals_a_misfit(world: World) -> None:
    asked = await world.state(ship("a", "1"), misfit("b", "2"))
    asked.say(event("MODIFIED", misfit("a", "6")))
    await settle()
    heard: list[Request] = []
    world.informer.on_undecodable(heard.append)
    heard.clear()
    asked.say(modified(ship("a", "7")), added(ship("b", "8")))
    await settle()

    assert heard == [A, B]

    assert world.versions() == {"a": "7", "b": "8"}
    assert world.informer.undecodable == {}
    assert world.told == ["a:>1!", "a:1>7", "b:>8"]


async def test_a_misfit_in_a_new_state_is_not_taken_for_gone(world: World) -> None:
    asked = await world.state(ship("a", "1"))

    asked = await world.anew(asked, misfit("a", "9"))
    assert world.told == []
    assert world.versions() == {"a": "1"}

    await world.anew(asked, ship("b", "30"), version="31")
    assert world.told == ["a:1>~", "b:>30"]
    assert world.informer.undecodable == {}


@pytest.mark.parametrize("good_before", [True, False])
async def test_a_deleted_misfit_is_gone(world: World, good_before: bool) -> None:
    asked = await world.state(ship("a", "1") if good_before else misfit("a", "1"))
    world.told.clear()

    asked.say(event("DELETED", misfit("a", "9")))
    await settle()

    assert world.told == (["a:1>~"] if good_before else [])
    assert world.versions() == {}
    assert world.informer.undecodable == {}


async def test_an_object_replaced_by_a_misfit_is_gone(world: World) -> None:
    asked = await world.state(ship("a", "1", uid="old"))
    world.told.clear()

    asked.say(event("MODIFIED", misfit("a", "9", uid="new")))
    await settle()

    assert world.told == ["a:1>~"]
    assert world.versions() == {}
    assert set(world.informer.undecodable) == {A}


async def test_the_deletion_of_an_object_that_was_a_misfit_is_told(world: World) -> None:
    asked = await world.state(ship("a", "1"))
    asked.say(event("MODIFIED", misfit("a", "6")), deleted(ship("a", "7")))
    await settle()

    assert world.told == ["a:>1!", "a:7>"]
    assert world.informer.undecodable == {}


async def test_a_misfit_is_complained_of_once_per_generation(world: World) -> None:
    with capture_logs() as lines:
        asked = await world.state(misfit("a", "1"))
        asked.say(event("MODIFIED", misfit("a", "2")))
        asked = await world.anew(asked, misfit("a", "2"))
        assert len([line for line in lines if "undecodable" in line["event"]]) == 1

        asked.say(event("MODIFIED", misfit("a", "21", generation=2)))
        asked.say(event("MODIFIED", misfit("a", "22", generation=2, uid="new")))
        await settle()

    complaints = [line for line in lines if "undecodable" in line["event"]]
    assert [line["object"] for line in complaints] == ["sea/a"] * 3
    assert "Expected `int" in complaints[0]["why"]


async def test_who_asks_late_hears_of_misfits_too(world: World) -> None:
    await world.state(misfit("a", "1"))
    heard: list[Request] = []

    world.informer.on_undecodable(heard.append)

    assert heard == [A]


async def test_an_answer_that_does_not_fit_is_not_shown(world: World) -> None:
    assert world.informer.decode(b'{"metadata":{"name":"a"},"spec":{"crew":"many"}}') is None
    assert world.informer.decode(b'{"metadata":{"name":"a"},"spec":{}}') is not None


# Handlers.


async def test_who_subscribes_late_hears_what_is_there(world: World) -> None:
    await world.state(ship("a", "1"), ship("b", "2"))
    world.informer.record_write(ship("a", "6"))
    world.informer.record_write(ship("c", "7"))
    world.informer.record_delete(B, "b", "2")
    late: list[str] = []

    world.informer.subscribe(lambda change: late.append(said(change)))

    # What the watch delivered, for it is on top of that that the next changes come.
    assert sorted(late) == ["a:>1!", "b:>2!"]


async def test_who_subscribes_late_hears_it_in_the_order_in_which_it_came(world: World) -> None:
    """Which no hash decides: a simulation is the same in every process."""
    names = [f"s{number * 7 % 20}" for number in range(20)]
    await world.state(*(ship(name, "1") for name in names))
    late: list[str] = []
    world.informer.subscribe(lambda change: late.append(said(change)))
    assert [each.partition(":")[0] for each in late] == names


async def test_who_unsubscribes_hears_no_more(world: World) -> None:
    heard: list[ObjectChange[Any]] = []
    world.informer.subscribe(heard.append)
    world.informer.unsubscribe(heard.append)

    await world.state(ship("a", "1"))

    assert heard == []


async def test_a_handler_that_fails_fails_alone() -> None:
    world = World()
    after: list[str] = []

    def broken(change: ObjectChange[Any]) -> None:
        raise ValueError("a predicate's mistake")

    world.informer.subscribe(broken)
    world.informer.subscribe(lambda change: after.append(said(change)))
    with capture_logs() as lines:
        asked = await world.state(ship("a", "1"))
        asked.say(deleted(ship("a", "6")))
        await settle()

    assert world.told == after == ["a:>1!", "a:6>"]
    assert world.counts.reasons == []
    assert [(line["event"], line["change"]) for line in lines] == [("handler failed", "sea/a")] * 2
    await world.close()


# Several namespaces.


async def test_each_namespace_has_its_own_watch_and_all_one_store() -> None:
    world = World(namespaces=["sea", "lake", "sea"])
    one, two = await world.server.asked(), await world.server.asked()
    assert [asked.call.path.split("/")[5] for asked in (one, two)] == ["sea", "lake"]

    one.accept()
    one.say(added(ship("a", "1")), bookmark("5", initial=True))
    await settle()
    assert [world.informer.synced, world.informer.alive_at] == [False, 0]

    two.accept()
    two.say(added(ship("a", "2", namespace="lake")), bookmark("5", initial=True))
    await settle()
    assert world.informer.synced
    assert len(world.informer.store) == 2
    assert world.server.idle()
    await world.close()


async def test_a_state_read_anew_concerns_its_namespace_alone() -> None:
    world = World(namespaces=["sea", "lake"])
    one, two = await world.server.asked(), await world.server.asked()
    for asked, place in ((one, "sea"), (two, "lake")):
        asked.accept()
        bad = misfit("m")
        bad["metadata"]["namespace"] = place
        asked.say(added(ship("a", "1", namespace=place)), added(bad))
        asked.say(bookmark("5", initial=True))
    await settle()

    await world.anew(one)

    assert world.told == ["a:1>~"]
    assert list(world.informer.store.list_keys()) == [Request("a", "lake")]
    assert list(world.informer.undecodable) == [Request("m", "lake")]
    await world.close()


async def test_a_kind_without_namespaces_is_watched_once() -> None:
    world = World(Ocean, namespaces=["sea", "lake"])

    asked = await world.state(Ocean(metadata=meta("atlantic", "1", namespace="")))

    assert asked.call.path == "/apis/sea.quintant.dev/v1/oceans"
    assert world.informer.synced
    world.informer.record_write(Ocean(metadata=meta("pacific", "6", namespace="")))
    assert world.versions() == {"atlantic": "1", "pacific": "6"}
    await world.close()


async def test_trouble_is_said_of_every_stream() -> None:
    world = World(namespaces=["sea", "lake"])
    for place in ("sea", "lake"):
        (await world.server.asked()).fail(403, f"not in {place}")
    await settle()

    assert "not in sea" in world.informer.trouble
    assert "; cannot read" in world.informer.trouble
    await world.close()


# Life.


async def test_restarts_are_counted_by_their_reason(world: World) -> None:
    asked = await world.state()
    asked.end()
    (await world.server.asked()).fail(410)
    asked = await world.state()
    (await world.server.asked()).fail(500)
    asked = await world.server.asked()
    asked.accept()
    asked.end()
    await settle()

    kinds = {kind for kind, _ in world.counts.reasons}
    assert kinds == {"ships.sea.quintant.dev"}
    reasons = [reason for _, reason in world.counts.reasons]
    assert reasons == ["timeout", "410", "idle", "error", "eof"]


async def test_the_end_leaves_no_timer_and_no_connection() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    world = World()
    asked = await world.state(ship("a", "1"))
    world.informer.record_write(ship("a", "6"))
    assert loop.timers() > 0

    await world.close()

    assert loop.timers() == 0
    assert asked.closed
