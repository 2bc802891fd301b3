"""Promises of quintant.runtime.watch.watch_errors."""

from __future__ import annotations

import pytest

from quintant.core.errors import (
    Cause,
    ConnectError,
    DeadlineExceeded,
    Details,
    NoCredentials,
    ObjectIdentity,
    Status,
    StreamStalled,
    Undecodable,
    from_status,
)
from quintant.core.resource import Resource
from quintant.runtime.watch.watch_errors import classify_watch_error, explain_watch_error
from quintant.runtime.watch.watch_states import WatchOutcome, WatchPhase

TOO_LARGE = Details(causes=(Cause(reason="ResourceVersionTooLarge"),))


@pytest.mark.parametrize("phase", WatchPhase)
@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (from_status(Status(code=410)), WatchOutcome.EXPIRED),
        (from_status(Status(code=504, details=TOO_LARGE)), WatchOutcome.EXPIRED),
        (
            from_status(Status(code=504, message="Too large resource version: 9")),
            WatchOutcome.EXPIRED,
        ),
        (from_status(Status(code=504)), WatchOutcome.FAILED),
        (from_status(Status(code=429)), WatchOutcome.THROTTLED),
        (from_status(Status(code=403)), WatchOutcome.FORBIDDEN),
        (from_status(Status(code=404)), WatchOutcome.MISSING),
        (from_status(Status(code=401)), WatchOutcome.FAILED),
        (from_status(Status(code=500)), WatchOutcome.FAILED),
        (from_status(Status(code=0)), WatchOutcome.FAILED),
        (ConnectError("refused"), WatchOutcome.UNREACHABLE),
        (DeadlineExceeded("late"), WatchOutcome.UNREACHABLE),
        (NoCredentials("no token"), WatchOutcome.UNREACHABLE),
        (StreamStalled("silent"), WatchOutcome.IDLE),
        (Undecodable(ObjectIdentity("Pod"), "why"), WatchOutcome.FAILED),
        (ValueError("a defect"), WatchOutcome.FAILED),
    ],
)
def test_an_error_means_the_same_in_every_phase(
    error: Exception, outcome: WatchOutcome, phase: WatchPhase
) -> None:
    assert classify_watch_error(error, phase) is outcome


@pytest.mark.parametrize("code", [400, 422, 501])
def test_only_a_stream_of_the_initial_state_can_be_refused(code: int) -> None:
    error = from_status(Status(code=code))

    assert classify_watch_error(error, WatchPhase.STREAMING) is WatchOutcome.REFUSED
    assert classify_watch_error(error, WatchPhase.LISTING) is WatchOutcome.FAILED
    assert classify_watch_error(error, WatchPhase.WATCHING) is WatchOutcome.FAILED


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            from_status(Status(code=404)),
            "serves no ships of sea.dev/v1\ntry: install the definition",
        ),
        (from_status(Status(code=401)), "wrong or expired\ntry: kubectl auth whoami"),
        (from_status(Status(code=403, message="lacks watch")), "403, lacks watch\ntry: `quintant"),
        (from_status(Status(code=500, message="ouch")), "500 Unknown: ouch"),
        (ConnectError("refused"), "refused"),
        (ValueError(), "ValueError"),
    ],
)
def test_person_is_told_what_to_do(error: Exception, said: str) -> None:
    assert said in explain_watch_error(error, Resource("sea.dev", "v1", "Ship", "ships"))
