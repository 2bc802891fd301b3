"""What came of two explorations, for the tests of every format."""

from __future__ import annotations

from datetime import UTC, datetime

from quintant.testing.explore.report.findings import FailingRun, Findings, Untried

NOW = datetime(2026, 11, 19, 4, 30, tzinfo=UTC)
STORY = (
    "  - apply sample.yaml",
    "    create:configmaps:default/a-<1>#1",
    "  ! crash-after at create:configmaps:default/a-<1>#1: it is applied, the process killed",
    "    MODIFIED:demo.dev/widgets:default/a#1",
    "    quiet (1)",
    "  => after step 1 the world is another one",
)
HOSTILE = "<script src='//x'>alert(1)</script>&\"\x00\x1b]]>\ud800"
"""What a program may put into names, messages and what it prints."""


def finding(why: str = "another world", *, token: str = "", times: int = 3) -> FailingRun:
    token = token or "crash-after@create:configmaps:default/a-<1>#1"
    story = (*STORY[:-1], "    MODIFIED:<b>pods:default/a#2", f"  => {why}")
    return FailingRun(token, why, story, f"quintant explore --replay '{token}'", times, 3)


def findings(*, why: str = "another world", title: str = "sample.yaml") -> Findings:
    rare = finding("at times only", token="lost@create:configmaps:default/a-<1>#1", times=1)
    return Findings(
        title,
        "config/my sample.yaml",
        f"{title}: 4 of 4 runs in 3 s; 1 failures",
        3.25,
        ("crash-after@create:configmaps:default/a-<1>#1", rare.token, "500@delete:pods:a/b#1"),
        (finding(why),),
        (rare,),
        (Untried("409@patch:pods:a/b#1", "the point never came"),),
        (f"goes on at rest: {why}",),
        STORY[:2],
    )
