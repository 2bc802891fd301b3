"""What an error means for a watch: which outcome it is, and what to tell a person of it."""

from __future__ import annotations

from quintant.core.errors import (
    ApiError,
    BadRequest,
    Expired,
    Forbidden,
    Invalid,
    NotFound,
    StreamStalled,
    TooManyRequests,
    TransportError,
    Unauthorized,
    explained,
)
from quintant.core.resource import Resource
from quintant.runtime.cache.states import Outcome, Phase


def classify(error: Exception, phase: Phase) -> Outcome:
    """The outcome that `error` means in `phase`."""
    if isinstance(error, ApiError):
        return _classify_answer(error, phase)
    if isinstance(error, StreamStalled):
        return Outcome.IDLE
    if isinstance(error, TransportError):
        return Outcome.UNREACHABLE
    return Outcome.FAILED


def told(error: Exception, resource: Resource) -> str:
    """Why a kind cannot be followed, and what to do where only a person can mend it."""
    cannot = f"cannot read {resource.full_name}"
    match error:
        case NotFound():
            why = f"404, the server serves no {resource.plural} of {resource.api_version}"
            return explained(cannot, why, f"install the definition of {resource.kind} (its CRD)")
        case Unauthorized():
            why = "401, the server does not accept our credentials: missing, wrong or expired"
            return explained(cannot, why, "kubectl auth whoami, with the same kubeconfig")
        case Forbidden():
            hint = "`quintant manifests` prints the roles that a program needs"
            return explained(cannot, f"403, {error.message}", hint)
        case _:
            return str(error) or type(error).__name__


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
