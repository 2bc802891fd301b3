"""One value for what came of any exploration."""

from __future__ import annotations

from quintant.testing.explore.foreign.report import ForeignFailure, ForeignReport
from quintant.testing.explore.report.exploration import ExplorationFailure, ExplorationReport
from quintant.testing.explore.report.findings import FailingRun, Untried, scenario_findings
from unit.testing.explore.report.reports import findings


def test_every_run_has_one_outcome_and_those_that_held_have_none() -> None:
    outcomes = dict(findings().outcomes())
    assert [type(each) for each in outcomes.values()] == [
        FailingRun,
        FailingRun,
        type(None),
        Untried,
    ]
    assert "500@delete:pods:a/b#1" in outcomes


def test_a_scenario_is_repeated_by_its_target_and_its_file_is_named() -> None:
    story = "  - create\n  repeat: quintant explore a.py:Life --replay 'lost@w1'"
    report = ExplorationReport("Life", tried=["lost@w1", "lost@w2"], undisturbed=["- create"])
    report.failures.append(ExplorationFailure("lost@w1", "another world", story))
    made = scenario_findings(report, "a.py:Life")
    assert made.file == "a.py"
    assert made.failures[0].repeat == "quintant explore a.py:Life --replay 'lost@w1'"
    assert made.failures[0].story == ("  - create",)
    assert made.undisturbed == ("- create",)


def test_what_a_program_did_at_times_and_what_was_not_made_is_kept_apart() -> None:
    report = ForeignReport("sample.yaml", tried=["lost@create:pods:a/b#1"])
    report.at_times.append(ForeignFailure("lost@create:pods:a/b#1", "why", "story", 1, 3))
    report.not_made.append("409@create:pods:a/b#1: the disk is full: 3")
    report.never_came.append("500@create:pods:a/b#1")
    made = report.findings("sample.yaml", lambda token: f"again {token}")
    assert not made.failures
    assert made.at_times[0].repeat == "again lost@create:pods:a/b#1"
    assert made.untried == (
        Untried("500@create:pods:a/b#1", "the point never came"),
        Untried("409@create:pods:a/b#1", "the disk is full: 3"),
    )


def test_an_exploration_in_which_no_run_was_judged_says_so() -> None:
    report = ForeignReport("sample.yaml", planned=2, runs=2, never_came=["lost@create:pods:a/b#1"])
    assert "no run was judged" not in str(report)
    report.not_made.append("409@create:pods:a/b#1: the disk is full")
    assert "no run was judged" in str(report)
    assert "no run was judged" in str(ForeignReport("sample.yaml"))


def test_the_modes_of_a_run_are_read_from_its_token() -> None:
    assert FailingRun("lost@c0+stale@e7~seed=12", "", ()).modes == ("lost", "stale")
    assert FailingRun("undisturbed", "", ()).modes == ()
