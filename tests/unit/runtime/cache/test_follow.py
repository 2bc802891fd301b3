"""Promises of quintant.runtime.cache.follow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import pytest

from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.runtime.cache.follow import wait_for_state, watch_changes
from quintant.runtime.cache.informer import ObjectChange
from quintant.runtime.watch.scope import WatchScope
from quintant.testing.loop import VirtualLoop, settle
from unit.runtime.kinds import Ship, ship
from unit.runtime.scripted_transport import (
    Asked,
    ScriptedTransport,
    added,
    bookmark,
    deleted,
    modified,
)


async def state(server: ScriptedTransport, *objects: Ship) -> Asked:
    asked = await server.asked()
    asked.accept()
    asked.say(*map(added, objects), bookmark("5", initial=True))
    return asked


def waiting(
    server: ScriptedTransport, until: Callable[[Ship | None], bool]
) -> asyncio.Future[Ship | None]:
    scope = WatchScope(Ship, "sea", fields={"metadata.name": "a"})
    return asyncio.ensure_future(wait_for_state(Rest(server), scope, Random(0), until))


async def test_following_yields_what_is_there_and_then_what_changes() -> None:
    server = ScriptedTransport()
    changes = watch_changes(Rest(server), WatchScope(Ship, "sea", {"fleet": "ours"}), Random())
    async with aclosing(changes):  # type: ignore[type-var]
        first = asyncio.ensure_future(anext(changes))
        asked = await state(server, ship("a", "1"))
        assert await first == ObjectChange(None, ship("a", "1"), initial=True)

        asked.say(modified(ship("a", "6")), deleted(ship("a", "7")))

        assert await anext(changes) == ObjectChange(ship("a", "1"), ship("a", "6"))
        assert await anext(changes) == ObjectChange(ship("a", "7"), None)
        assert asked.call.path.endswith("/namespaces/sea/ships")
        assert asked.query["labelSelector"] == "fleet=ours"

    assert asked.closed
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    assert loop.timers() == 0


async def test_following_goes_on_when_a_stream_breaks() -> None:
    server = ScriptedTransport()
    changes = watch_changes(Rest(server), WatchScope(Ship), Random())
    async with aclosing(changes):  # type: ignore[type-var]
        coming = asyncio.ensure_future(anext(changes))
        (await state(server)).cut()
        again = await server.asked()
        again.accept()
        again.say(added(ship("a", "6")))

        assert await coming == ObjectChange(None, ship("a", "6"))


async def test_a_wait_ends_with_the_state_that_was_accepted() -> None:
    server = ScriptedTransport()
    wait = waiting(server, lambda obj: obj is not None and obj.spec.rig == "ketch")
    asked = await state(server, ship("a", "1"))
    asked.say(modified(ship("a", "6")))
    await settle()
    assert not wait.done()

    asked.say(modified(ship("a", "7", rig="ketch")), modified(ship("a", "8", rig="ketch")))

    assert await wait == ship("a", "7", rig="ketch")
    assert asked.closed
    assert asked.query["fieldSelector"] == "metadata.name=a"


async def test_a_wait_sees_that_there_is_nothing() -> None:
    server = ScriptedTransport()
    wait = waiting(server, lambda obj: obj is None)
    await state(server)

    assert await wait is None


async def test_a_wait_sees_a_deletion() -> None:
    server = ScriptedTransport()
    wait = waiting(server, lambda obj: obj is None)
    asked = await state(server, ship("a", "1"))
    await settle()
    assert not wait.done()

    asked.say(deleted(ship("a", "6")))

    assert await wait is None


async def test_an_error_of_the_condition_is_its_authors() -> None:
    server = ScriptedTransport()
    wait = waiting(server, lambda obj: bool(1 / 0))
    asked = await state(server, ship("a", "1"))

    with pytest.raises(ZeroDivisionError):
        await wait
    assert asked.closed
