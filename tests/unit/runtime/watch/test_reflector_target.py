"""Promises of quintant.runtime.watch.reflector_target."""

from __future__ import annotations

from quintant.core.errors import ObjectIdentity, Undecodable
from quintant.core.object import Request
from quintant.runtime.watch.reflector_target import InitialState
from quintant.runtime.watch.watch_events import UndecodableEvent
from unit.runtime.kinds import Ship, meta, ship

A = Request("a", "sea")


def misfit(*, deleted: bool = False) -> UndecodableEvent:
    return UndecodableEvent(
        Undecodable(ObjectIdentity("Ship", "a", "sea"), "why"), meta("a", "3"), deleted
    )


def test_a_state_is_what_was_said_last_of_each_object() -> None:
    state: InitialState[Ship] = InitialState()
    state.put(ship("a", "1"))
    state.put(ship("b", "2"))
    state.put(ship("a", "3"))
    state.drop(Request("b", "sea"))
    state.drop(Request("c", "sea"))

    assert state.objects == {A: ship("a", "3")}


def test_a_good_version_heals_a_misfit() -> None:
    state: InitialState[Ship] = InitialState()
    state.put_undecodable(misfit())
    assert set(state.undecodable) == {A}

    state.put(ship("a", "4"))

    assert state.undecodable == {}


def test_a_misfit_keeps_the_good_version_before_it() -> None:
    state: InitialState[Ship] = InitialState()
    state.put(ship("a", "1"))
    state.put_undecodable(misfit())

    assert (set(state.objects), set(state.undecodable)) == ({A}, {A})


def test_a_deleted_misfit_is_gone() -> None:
    state: InitialState[Ship] = InitialState()
    state.put(ship("a", "1"))
    state.put_undecodable(misfit())
    state.put_undecodable(misfit(deleted=True))

    assert (state.objects, state.undecodable) == ({}, {})
