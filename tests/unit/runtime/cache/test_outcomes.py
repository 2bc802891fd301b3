"""Promises of quintant.runtime.cache.outcomes."""

from __future__ import annotations

import pytest

from quintant.core.errors import (
    Cause,
    ConnectError,
    DeadlineExceeded,
    Details,
    Identity,
    NoCredentials,
    Status,
    StreamStalled,
    Undecodable,
    from_status,
)
from quintant.core.resource import Resource
from quintant.runtime.cache.outcomes import classify, told
from quintant.runtime.cache.states import Outcome, Phase

TOO_LARGE = Details(causes=(Cause(reason="ResourceVersionTooLarge"),))


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (from_status(Status(code=410)), Outcome.EXPIRED),
        (from_status(Status(code=504, details=TOO_LARGE)), Outcome.EXPIRED),
        (from_status(Status(code=504, message="Too large resource version: 9")), Outcome.EXPIRED),
        (from_status(Status(code=504)), Outcome.FAILED),
        (from_status(Status(code=429)), Outcome.THROTTLED),
        (from_status(Status(code=403)), Outcome.FORBIDDEN),
        (from_status(Status(code=404)), Outcome.MISSING),
        (from_status(Status(code=401)), Outcome.FAILED),
        (from_status(Status(code=500)), Outcome.FAILED),
        (from_status(Status(code=0)), Outcome.FAILED),
        (ConnectError("refused"), Outcome.UNREACHABLE),
        (DeadlineExceeded("late"), Outcome.UNREACHABLE),
        (NoCredentials("no token"), Outcome.UNREACHABLE),
        (StreamStalled("silent"), Outcome.IDLE),
        (Undecodable(Identity("Pod"), "why"), Outcome.FAILED),
        (ValueError("a defect"), Outcome.FAILED),
    ],
)
def test_an_error_means_the_same_in_every_phase(
    error: Exception, outcome: Outcome, phase: Phase
) -> None:
    assert classify(error, phase) is outcome


@pytest.mark.parametrize("code", [400, 422, 501])
def test_only_a_stream_of_the_initial_state_can_be_refused(code: int) -> None:
    error = from_status(Status(code=code))

    assert classify(error, Phase.STREAMING) is Outcome.REFUSED
    assert classify(error, Phase.LISTING) is Outcome.FAILED
    assert classify(error, Phase.WATCHING) is Outcome.FAILED


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
    assert said in told(error, Resource("sea.dev", "v1", "Ship", "ships"))
