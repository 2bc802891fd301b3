from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest

from quintant.agents.relay.tunnel.name_registry import LEASE_SECONDS, NameDenied, NameRegistry
from quintant.agents.relay.tunnel.tokens import ANYBODY, Principal
from quintant.wire.portal import Close


@dataclass(eq=False)
class Held:
    load: int = 0
    room: bool = True
    live: bool = True


def names() -> NameRegistry[Held]:
    return NameRegistry()


def test_a_group_shares_its_name_and_others_do_not_get_it() -> None:
    held = names()
    held.join("hello", "one", ANYBODY, Held(), 0)
    held.join("hello", "one", ANYBODY, Held(), 0)
    with pytest.raises(NameDenied) as caught:
        held.join("hello", "two", ANYBODY, Held(), 0)
    assert caught.value.code is Close.HELD
    assert len(held.sessions("hello")) == 2


def test_the_same_group_of_another_subject_is_another() -> None:
    held = names()
    held.join("hello", "one", Principal("a", ("*",)), Held(), 0)
    with pytest.raises(NameDenied) as caught:
        held.join("hello", "one", Principal("b", ("*",)), Held(), 0)
    assert caught.value.code is Close.HELD


def test_a_name_is_kept_for_a_lease_and_then_free() -> None:
    held, session = names(), Held()
    held.join("hello", "one", ANYBODY, session, 0)
    held.leave("hello", session, 100)
    assert held.known("hello", 100 + LEASE_SECONDS - 1)
    with pytest.raises(NameDenied):
        held.join("hello", "two", ANYBODY, Held(), 100 + LEASE_SECONDS - 1)
    assert not held.known("hello", 100 + LEASE_SECONDS)
    held.join("hello", "two", ANYBODY, Held(), 100 + LEASE_SECONDS)


def test_a_name_outside_the_tokens_is_not_allowed() -> None:
    with pytest.raises(NameDenied) as caught:
        names().join("other", "one", Principal("a", ("team-*",)), Held(), 0)
    assert caught.value.code is Close.NOT_ALLOWED


def test_limits_are_told_and_freed() -> None:
    held: NameRegistry[Held] = NameRegistry(most=2, most_of_one=1)
    session = Held()
    held.join("a", "g", ANYBODY, session, 0)
    with pytest.raises(NameDenied, match="have this name") as caught:
        held.join("a", "g", ANYBODY, Held(), 0)
    assert caught.value.code is Close.LIMIT
    held.join("b", "g", ANYBODY, Held(), 0)
    with pytest.raises(NameDenied, match="full"):
        held.join("c", "g", ANYBODY, Held(), 0)
    held.leave("a", session, 0)
    held.join("c", "g", ANYBODY, Held(), 0)
    with pytest.raises(NameDenied, match="token"):
        held.join("d", "g", Principal("poor", ("*",), max_sessions=0), Held(), 0)


def test_two_tunnels_share_the_visitors() -> None:
    held, pair = names(), [Held(), Held()]
    for each in pair:
        held.join("hello", "one", ANYBODY, each, 0)
    picked = Counter(id(held.pick("hello", Random(seed))) for seed in range(1000))
    assert all(300 <= picked[id(each)] <= 700 for each in pair)


def test_the_less_busy_of_two_is_picked() -> None:
    held, busy, free = names(), Held(load=5), Held(load=1)
    for each in (busy, free):
        held.join("hello", "one", ANYBODY, each, 0)
    assert all(held.pick("hello", Random(seed)) is free for seed in range(20))
    assert held.pick("hello", Random(1), frozenset((free,))) is busy


def test_a_tunnel_that_is_full_or_leaving_is_not_picked() -> None:
    held = names()
    held.join("hello", "one", ANYBODY, Held(room=False), 0)
    held.join("hello", "one", ANYBODY, Held(live=False), 0)
    assert held.pick("hello", Random(1)) is None
    assert held.pick("unknown", Random(1)) is None


def test_free_names_are_forgotten() -> None:
    held, session = names(), Held()
    held.join("hello", "one", ANYBODY, session, 0)
    held.leave("hello", session, 0)
    held.sweep(LEASE_SECONDS)
    assert held.groups == 0
    assert not held.known("hello", 0)
