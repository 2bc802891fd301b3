from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest

from quintant.core.errors import (
    ConfigError,
    ConnectError,
    DeadlineExceeded,
    Details,
    NotLeader,
    QuintantError,
    Status,
    Terminal,
    from_status,
)
from quintant.core.object import Request
from quintant.core.resource import Resource
from quintant.runtime.reconcile.result import (
    ReconcileOutcome,
    ReconcileTimeout,
    Result,
    classify_reconcile_error,
)

KEY = Request("a", "default")


GREETER = Resource("demo.dev", "v1", "Greeter", "greeters")


def answer(code: int, reason: str = "", name: str = "", kind: str = "") -> QuintantError:
    details = Details(name=name, group=GREETER.group if kind == GREETER.plural else "", kind=kind)
    return from_status(Status(code=code, reason=reason, details=details))


def several(*errors: Exception) -> ExceptionGroup[Exception]:
    return ExceptionGroup("several", errors)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (Terminal("never"), ReconcileOutcome.TERMINAL),
        (answer(409), ReconcileOutcome.CONFLICT),
        (answer(409, "AlreadyExists"), ReconcileOutcome.CONFLICT),
        (answer(404, name="a", kind="greeters"), ReconcileOutcome.CONFLICT),
        (answer(404, name="another", kind="greeters"), ReconcileOutcome.ERROR),
        (answer(404, name="a", kind="configmaps"), ReconcileOutcome.ERROR),
        (answer(403), ReconcileOutcome.ERROR),
        (answer(422), ReconcileOutcome.ERROR),
        (answer(429), ReconcileOutcome.UNAVAILABLE),
        (answer(503), ReconcileOutcome.UNAVAILABLE),
        (ConnectError("no"), ReconcileOutcome.UNAVAILABLE),
        (DeadlineExceeded("late"), ReconcileOutcome.UNAVAILABLE),
        (NotLeader("lost"), ReconcileOutcome.UNAVAILABLE),
        (ReconcileTimeout("late"), ReconcileOutcome.TIMEOUT),
        (ValueError("bug"), ReconcileOutcome.ERROR),
        (several(ValueError("bug"), answer(409)), ReconcileOutcome.ERROR),
        (several(answer(409), several(answer(429))), ReconcileOutcome.UNAVAILABLE),
        (several(answer(409), answer(409)), ReconcileOutcome.CONFLICT),
        (several(answer(409), Terminal("never")), ReconcileOutcome.CONFLICT),
        (several(Terminal("never"), Terminal("neither")), ReconcileOutcome.TERMINAL),
    ],
)
def test_every_error_has_its_verdict(error: Exception, verdict: ReconcileOutcome) -> None:
    assert classify_reconcile_error(error, KEY, GREETER) is verdict


@pytest.mark.parametrize("verdict", list(ReconcileOutcome))
def test_failures_are_forgotten_after_success_and_when_retrying_is_pointless(
    verdict: ReconcileOutcome,
) -> None:
    assert verdict.resets_failures is (
        verdict in (ReconcileOutcome.SUCCESS, ReconcileOutcome.AGAIN, ReconcileOutcome.TERMINAL)
    )


def test_delay_may_be_seconds_or_a_timedelta() -> None:
    assert Result(after=1.5).seconds == 1.5
    assert Result(after=timedelta(minutes=2)).seconds == 120.0
    assert Result().seconds is None


def test_no_object_that_is_a_key_alone_can_be_missing() -> None:
    assert (
        classify_reconcile_error(answer(404, name="a", kind="greeters"), KEY)
        is ReconcileOutcome.ERROR
    )


@pytest.mark.parametrize(
    "given",
    [
        {"after": math.nan},
        {"after": math.inf},
        {"after": "soon"},
        {"priority": "high"},
        {"priority": 0.5},
    ],
)
def test_result_that_makes_no_sense_is_refused_where_it_is_made(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="makes no sense"):
        Result(**given)
