"""What healing remembers: since when something is so, and nothing of what is gone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from quintant.operators.cosmos.self_healing.observed import (
    FirstSeen,
    HealingMemory,
    HealingObserved,
    HealingOutcome,
)
from quintant.operators.cosmos.self_healing.plan.memory import note, remember
from unit.operators.cosmos.observations import NOW, observed

EARLIER = NOW - timedelta(minutes=3)
STALL = {"stall": {"seconds": 60}}
DRIFT = {"heightDriftMitigation": {"threshold": 10}}
CRASH = {"crashLoop": {"restarts": 3, "windowSeconds": 600}}


def healing(
    states: str, wanted: dict[str, Any], peers: dict[str, int] | None = None, **given: Any
) -> HealingObserved:
    return HealingObserved(observed(states, selfHeal=wanted, **given), peers=peers or {})


def test_since_when_a_node_has_no_peers_is_kept_until_it_has_some_or_is_silent() -> None:
    memory = HealingMemory(isolated={"uid-0": EARLIER, "uid-1": EARLIER, "uid-2": EARLIER})
    after = note(memory, healing("++++", STALL, {"uid-0": 0, "uid-1": 2, "uid-3": 0}))
    assert after.isolated == {"uid-0": EARLIER, "uid-3": NOW}


def test_what_is_not_asked_for_stays_as_it_was() -> None:
    memory = HealingMemory(isolated={"uid-0": EARLIER}, restarts={"uid-0": ((EARLIER, 1),)})
    assert note(memory, healing("+", DRIFT)) == memory


def test_restarts_are_counted_per_pod_and_forgotten_with_it() -> None:
    memory = HealingMemory(restarts={"uid-0": ((EARLIER, 1),), "gone": ((EARLIER, 9),)})
    after = note(memory, healing("+ ", CRASH))
    assert after.restarts == {"uid-0": ((EARLIER, 1), (NOW, 0))}


def test_what_was_first_seen_stays_first_seen() -> None:
    first = FirstSeen("uid-2", "drift", EARLIER)
    behind = healing("+++", DRIFT, heights={2: 10})
    fresh = remember(HealingMemory(), behind, HealingOutcome())
    assert fresh.troubles == {"hub-2": FirstSeen("uid-2", "drift", NOW)}
    again = remember(HealingMemory(troubles={"hub-2": first}), behind, HealingOutcome())
    assert again.troubles == {"hub-2": first}
    well = remember(
        HealingMemory(troubles={"hub-2": first}), healing("+++", DRIFT), HealingOutcome()
    )
    assert well.troubles == {}


def test_an_instance_that_began_again_is_counted_from_nothing() -> None:
    memory = HealingMemory(restarts={"uid-0": ((EARLIER, 1),), "uid-1": ((EARLIER, 1),)})
    after = remember(memory, healing("++", CRASH), HealingOutcome(refused="", rebuilt="uid-0"))
    assert list(after.restarts) == ["uid-1"]


def test_a_refusal_is_remembered_until_it_is_looked_at_again() -> None:
    memory = HealingMemory(refused="hub-0: no")
    assert remember(memory, healing("++", CRASH), HealingOutcome()).refused == "hub-0: no"
    assert remember(memory, healing("++", CRASH), HealingOutcome(refused="")).refused == ""


def test_nothing_is_remembered_where_nothing_is_asked_for() -> None:
    silent = HealingObserved(observed("+"))
    assert remember(HealingMemory(refused="x"), silent, HealingOutcome()) == HealingMemory()
