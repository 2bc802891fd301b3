"""Which outcome an error means for a watch."""

from __future__ import annotations

from quintant.runtime.errors import (
    ApiError,
    BadRequest,
    Expired,
    Forbidden,
    Invalid,
    NotFound,
    StreamStalled,
    TooManyRequests,
    TransportError,
)
from quintant.runtime.watch.states import Outcome, Phase


def classify(error: Exception, phase: Phase) -> Outcome:
    """The outcome that `error` means in `phase`."""
    if isinstance(error, ApiError):
        return _classify_answer(error, phase)
    if isinstance(error, StreamStalled):
        return Outcome.IDLE
    if isinstance(error, TransportError):
        return Outcome.UNREACHABLE
    return Outcome.FAILED


def _classify_answer(error: ApiError, phase: Phase) -> Outcome:
    match error:
        case Expired():
            return Outcome.EXPIRED
        case ApiError(status=504) if _ahead(error):
            return Outcome.EXPIRED
        case BadRequest() | Invalid() | ApiError(status=501) if phase is Phase.STREAMING:
            return Outcome.REFUSED
        case TooManyRequests():
            return Outcome.THROTTLED
        case Forbidden():
            return Outcome.FORBIDDEN
        case NotFound():
            return Outcome.MISSING
        case _:
            return Outcome.FAILED


def _ahead(error: ApiError) -> bool:
    """Whether the server has not reached the version asked for; it may have lost its history."""
    causes = {cause.reason for cause in error.causes}
    return "ResourceVersionTooLarge" in causes or "Too large resource version" in error.message
