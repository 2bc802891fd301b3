"""Promises of quintant.runtime.cache.partial.foreign."""

from __future__ import annotations

import sys
from uuid import UUID

from quintant.core.object import Request
from quintant.runtime.cache.partial.foreign import ForeignObjects

UID = "0f0f0f0f-1111-2222-3333-444455556666"
A, B = Request("a", "sea"), Request("b", "bay")


def test_what_is_noted_is_known_with_its_controller_until_it_is_gone() -> None:
    foreign = ForeignObjects()
    foreign.note(A, UID)
    foreign.note(B, "odd")

    assert A in foreign
    assert foreign.is_controlled_by(A, UID)
    assert not foreign.is_controlled_by(A, UID[:-1] + "7")
    assert foreign.is_controlled_by(B, "odd")
    assert sorted(foreign) == [A, B]
    foreign.discard(A)
    foreign.discard(A)
    assert A not in foreign
    assert len(foreign) == 1


def test_a_namespace_in_which_nothing_is_left_counts_as_whole() -> None:
    foreign = ForeignObjects()
    foreign.note(A, "")
    assert foreign.has_any("sea")
    assert foreign.has_any("")
    assert not foreign.has_any("bay")
    foreign.discard(A)
    assert not foreign.has_any("")
    assert not foreign


def test_a_state_replaces_what_was_known_of_its_namespace_alone() -> None:
    foreign = ForeignObjects()
    foreign.note(A, "")
    foreign.note(B, "")
    foreign.replace("sea", {Request("c", "sea"): UID})
    assert sorted(foreign) == [B, Request("c", "sea")]
    foreign.replace("", {A: ""})
    assert list(foreign) == [A]


def test_an_object_of_others_costs_at_most_two_hundred_bytes() -> None:
    count, foreign = 10_000, ForeignObjects()
    for number in range(count):
        foreign.note(Request(f"greeter-{number:05d}-x7k2p", "default"), str(UUID(int=number + 1)))
    (names,) = foreign.by_namespace.values()
    held = sys.getsizeof(names) + sum(map(sys.getsizeof, [*names, *names.values()]))
    assert held / count <= 200
