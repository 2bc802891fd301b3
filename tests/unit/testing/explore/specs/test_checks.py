"""What must hold of specs that are applied one after the other."""

from __future__ import annotations

from typing import Any

from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.injection.trace import Trace
from quintant.testing.explore.simulation.run import RunRecord
from quintant.testing.explore.specs.checks import (
    ExpectedSpec,
    breach_at_once,
    breaches_of_effect,
    first_breach,
    has_effect,
)

GOOD, BAD = b"{}", b'{"a":1}'


def record(*states: Any, **more: Any) -> RunRecord:
    token = RunToken(specs=(GOOD, BAD, GOOD))
    return RunRecord(token, Trace(), states=[{"pods a": each} for each in states], **more)


def expected(**more: Any) -> dict[bytes, ExpectedSpec]:
    return {
        GOOD: ExpectedSpec({"pods a": {"size": 1}}),
        BAD: ExpectedSpec({"pods a": {"size": 2}}, **more),
    }


def why(made: RunRecord, known: dict[bytes, ExpectedSpec]) -> str:
    breach = first_breach(made, known)
    return breach.why if breach is not None else ""


def test_a_spec_that_was_reached_in_steps_is_what_it_is_at_once() -> None:
    assert why(record({"size": 1}, {"size": 2}, {"size": 1}), expected()) == ""
    found = why(record({"size": 1}, {"size": 3}, {"size": 1}), expected())
    assert found.startswith("spec 1, reached in steps, is not what it is at once: pods a.size is 3")


def test_back_at_the_good_spec_it_is_as_if_there_had_been_no_other() -> None:
    found = why(record({"size": 1}, {"size": 2}, {"size": 2}), expected())
    assert found.startswith("back at the good spec, is not what it is at once")


def test_of_a_hopeless_spec_only_the_way_back_is_compared() -> None:
    known = expected(hopeless=True)
    assert why(record({"size": 1}, {"size": 1}, {"size": 1}), known) == ""
    assert why(record({"size": 1}, {"size": 1}, {"size": 9}), known) != ""


def test_what_is_refused_changes_nothing() -> None:
    known = expected(refused="no")
    assert why(record({"size": 1}, {"size": 1}, {"size": 1}, refusals={1: "no"}), known) == ""
    found = why(record({"size": 1}, {"size": 2}, {"size": 1}, refusals={1: "no"}), known)
    assert found.startswith("spec 1 is refused, and changes something")


def test_what_a_creation_refuses_a_change_refuses_too() -> None:
    found = why(record({"size": 1}, {"size": 2}, {"size": 1}), expected(refused="too big"))
    assert found == "spec 1 is taken as a change, and refused at once: too big"


def test_who_cannot_do_it_may_fail_and_must_not_write_again_and_again() -> None:
    assert breach_at_once(record(violations=["a default/b fails again and again"])) is None
    assert breach_at_once(record(violations=["settled is broken: no pod"])) is None
    tries = ["a default/b fails again and again", "hot loop: 1 write in 60 s"]
    assert breach_at_once(record(violations=tries)) is None
    assert breach_at_once(record(violations=["hot loop: 9 writes in 60 s"])) is not None
    assert breach_at_once(record(stopped="NeverQuiet: a")) is not None


def test_an_effect_is_more_than_the_spec_itself() -> None:
    good = {"widgets a": {"spec": {"size": 1}, "status": {}}}
    assert not has_effect(good, {"widgets a": {"spec": {"size": 2}, "status": {}}}, "widgets a")
    assert has_effect(good, {"widgets a": {"spec": {}, "status": {"n": 1}}}, "widgets a")
    assert has_effect(good, {**good, "pods b": {}}, "widgets a")


def test_what_shows_nowhere_is_listed_and_what_is_listed_shows_nowhere() -> None:
    listed = {"notes": "for people", "pod": "not made here"}
    tried = ("size", "notes", "pod", "pod.image", "pool", "pool.min")
    effective = ("size", "pool.min")
    assert list(breaches_of_effect(tried, effective, listed)) == []
    assert list(breaches_of_effect(tried, effective, {"pod": "not made here"})) == [
        "notes is set and shows nowhere: not in a child, not in the status"
    ]
    assert list(breaches_of_effect(tried, effective, {**listed, "size": "?"})) == [
        "size is listed as without effect, and has one"
    ]
