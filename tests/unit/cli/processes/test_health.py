from __future__ import annotations

from quintant.cli.processes.health import (
    STALE_SECONDS,
    ChildView,
    ProbeAnswer,
    liveness_trouble,
    readiness_trouble,
)

NOW = 100.0
OK = ProbeAnswer(ok=True, text="ok", at=NOW - 1)
FAILED = ProbeAnswer(
    ok=False, text="[+]ping ok\n[-]pods failed: 403\n[-]shutdown failed: stops\nno", at=NOW - 1
)
STALE = ProbeAnswer(ok=True, text="ok", at=NOW - STALE_SECONDS - 1)


def test_a_child_is_ready_when_it_says_so() -> None:
    assert readiness_trouble(ChildView(runs=True, live=OK, ready=OK), NOW) == ""
    failed = ChildView(runs=True, live=OK, ready=FAILED)
    assert readiness_trouble(failed, NOW) == "pods failed: 403; shutdown failed: stops"
    silent = ChildView(runs=True, live=OK, ready=STALE)
    assert readiness_trouble(silent, NOW) == "it has not answered for 6 s"
    wordless = ChildView(runs=True, ready=ProbeAnswer(ok=False, text="", at=NOW))
    assert readiness_trouble(wordless, NOW) == "it says no"


def test_a_child_that_does_not_run_or_answer_yet_is_not_ready() -> None:
    assert readiness_trouble(ChildView(), NOW) == "it is not started yet"
    assert readiness_trouble(ChildView(runs=True), NOW) == "it has not answered yet"
    ended = ChildView(ended="by signal 9", starts_in=3.6)
    assert readiness_trouble(ended, NOW) == "it ended by signal 9, and starts again in 4 s"


def test_only_a_child_that_answered_once_and_hangs_needs_the_kubelet() -> None:
    for lives in (ChildView(), ChildView(ended="with 1"), ChildView(runs=True)):
        assert liveness_trouble(lives, NOW) == ""
    assert liveness_trouble(ChildView(runs=True, live=OK, ready=FAILED), NOW) == ""
    assert liveness_trouble(ChildView(runs=True, live=STALE), NOW) != ""
    assert liveness_trouble(ChildView(runs=True, live=FAILED), NOW).startswith("pods failed")
