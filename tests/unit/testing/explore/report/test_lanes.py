"""Who did what in a run, side by side."""

from __future__ import annotations

from quintant.testing.explore.report.lanes import MomentKind, lanes_of, moments_of
from unit.testing.explore.report.reports import STORY


def test_a_run_of_a_program_has_a_lane_for_users_for_it_and_for_each_watch() -> None:
    assert lanes_of(moments_of(STORY)) == ("users", "program", "watch of demo.dev/widgets")


def test_a_run_of_a_scenario_has_a_lane_for_each_remote_as_well() -> None:
    lines = [
        "- create A a",
        "  e0 ADDED as.demo.dev a",
        "  w0 apply pods a",
        "  c0 cloud.create(a)",
    ]
    assert [each.lane for each in moments_of(lines)] == [
        "users",
        "watch of as.demo.dev",
        "program",
        "remote cloud",
    ]


def test_faults_quiet_and_what_does_not_hold_concern_everybody() -> None:
    kinds = [each.kind for each in moments_of(STORY) if not each.lane]
    assert kinds == [MomentKind.FAULT, MomentKind.QUIET, MomentKind.BREACH]


def test_no_line_is_lost() -> None:
    odd = ["", "  something", "  … 3 lines", "60 s of rest, and a resync"]
    assert [each.text for each in moments_of(odd)] == [line.strip() for line in odd[1:]]
