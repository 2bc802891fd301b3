"""Which class is in force is certain, and rivals are told of once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quintant.api.meta import condition_of
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal.api import (
    DEFAULT_CLASS,
    TunnelClass,
    TunnelClassSpec,
    TunnelClassStatus,
)
from quintant.operators.portal.tunnel_class.plan import (
    defaults,
    missing_class,
    plan,
    references,
    resolve,
)
from quintant.runtime.reconcile.conclusion import Conclusion
from unit.operators.portal.observations import exposing

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def classed(name: str, created: str = "", *, default: bool = True) -> TunnelClass:
    noted = {DEFAULT_CLASS: "true"} if default else {}
    meta = ObjectMeta(
        name=name, annotations=noted, creation_timestamp=created or None, generation=2
    )
    return TunnelClass(metadata=meta, spec=TunnelClassSpec(replicas=1, size="small"))


OLD = classed("old", "2026-01-01T00:00:00Z")
NEW = classed("new", "2026-02-01T00:00:00Z")
TWIN = classed("twin", "2026-02-01T00:00:00Z")
PLAIN = classed("plain", default=False)


def said(decided: Conclusion[TunnelClassStatus], type: str) -> tuple[str, str] | None:
    assert decided.status is not None
    found = condition_of(decided.status.conditions, type)
    return (found.status, found.reason) if found else None


def test_newest_default_is_in_force_and_the_first_by_name_of_twins() -> None:
    assert defaults([OLD, PLAIN, TWIN, NEW]) == [NEW, TWIN, OLD]


@pytest.mark.parametrize(("name", "found"), [("", NEW), ("plain", PLAIN), ("none", None)])
def test_class_that_is_named_goes_before_the_default(name: str, found: TunnelClass | None) -> None:
    given = exposing()
    expose = replace(given, spec=replace(given.spec, tunnel_class_name=name))
    assert resolve(expose, [OLD, PLAIN, NEW]) is found


def test_what_is_missing_is_said_as_it_was_asked_for() -> None:
    given = exposing()
    named = replace(given, spec=replace(given.spec, tunnel_class_name="none"))
    assert missing_class(named)[0] == "TunnelClassNotFound"
    assert missing_class(given)[0] == "NoDefaultTunnelClass"


def test_every_class_is_counted_and_those_in_force_for_nobody_too() -> None:
    assert references([exposing(), exposing()], [OLD, NEW]) == {"old": 0, "new": 2}


def test_only_default_is_in_force_without_a_word_of_rivals() -> None:
    alone = plan(OLD, [OLD, PLAIN], NOW)
    assert alone.status is not None
    assert alone.status.observed_generation == 2
    assert said(alone, "Default") == ("True", "InForce")
    assert said(alone, "DefaultConflict") is None
    assert said(plan(PLAIN, [OLD, PLAIN], NOW), "Default") == ("False", "NotAsked")
    assert alone.events == ()


def test_rivals_are_told_of_once_and_their_end_is_in_the_status() -> None:
    both = [OLD, NEW]
    first = plan(OLD, both, NOW)
    assert said(first, "Default") == ("False", "AnotherIsNewer")
    (event,) = first.events
    assert (event.type, event.reason) == ("Warning", "MultipleDefaults")
    assert event.note == "Several classes want to be the default: new, old; new is in force"
    known = replace(OLD, status=first.status)
    assert plan(known, [known, NEW], NOW).events == ()
    over = plan(known, [known], NOW)
    assert said(over, "DefaultConflict") == ("False", "OneDefault")
    assert over.events == ()
