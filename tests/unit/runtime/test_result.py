from __future__ import annotations

from datetime import timedelta

import pytest

from quintant.runtime.errors import (
    ConnectError,
    DeadlineExceeded,
    Details,
    NotLeader,
    QuintantError,
    Status,
    Terminal,
    from_status,
)
from quintant.runtime.object import Request
from quintant.runtime.result import ReconcileTimeout, Result, Verdict, judge

KEY = Request("a", "default")


def answer(code: int, reason: str = "", name: str = "") -> QuintantError:
    return from_status(Status(code=code, reason=reason, details=Details(name=name)))


def several(*errors: Exception) -> ExceptionGroup[Exception]:
    return ExceptionGroup("several", errors)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (Terminal("never"), Verdict.TERMINAL),
        (answer(409), Verdict.CONFLICT),
        (answer(409, "AlreadyExists"), Verdict.CONFLICT),
        (answer(404, name="a"), Verdict.CONFLICT),
        (answer(404, name="another"), Verdict.ERROR),
        (answer(403), Verdict.ERROR),
        (answer(422), Verdict.ERROR),
        (answer(429), Verdict.UNAVAILABLE),
        (answer(503), Verdict.UNAVAILABLE),
        (ConnectError("no"), Verdict.UNAVAILABLE),
        (DeadlineExceeded("late"), Verdict.UNAVAILABLE),
        (NotLeader("lost"), Verdict.UNAVAILABLE),
        (ReconcileTimeout("late"), Verdict.TIMEOUT),
        (ValueError("bug"), Verdict.ERROR),
        (several(ValueError("bug"), answer(409)), Verdict.ERROR),
        (several(answer(409), several(answer(429))), Verdict.UNAVAILABLE),
        (several(answer(409), answer(409)), Verdict.CONFLICT),
        (several(answer(409), Terminal("never")), Verdict.CONFLICT),
        (several(Terminal("never"), Terminal("neither")), Verdict.TERMINAL),
    ],
)
def test_every_error_has_its_verdict(error: Exception, verdict: Verdict) -> None:
    assert judge(error, KEY) is verdict


@pytest.mark.parametrize("verdict", list(Verdict))
def test_failures_are_forgotten_after_success_and_when_retrying_is_pointless(
    verdict: Verdict,
) -> None:
    assert verdict.settled is (verdict in (Verdict.SUCCESS, Verdict.AGAIN, Verdict.TERMINAL))


def test_delay_may_be_seconds_or_a_timedelta() -> None:
    assert Result(after=1.5).seconds == 1.5
    assert Result(after=timedelta(minutes=2)).seconds == 120.0
    assert Result().seconds is None
