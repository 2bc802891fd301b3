"""What an error means for a watch: which outcome it is, and what a person reads of it."""

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
    error_text,
)
from quintant.core.resource import Resource
from quintant.runtime.watch.watch_states import WatchOutcome, WatchPhase


def classify_watch_error(error: Exception, phase: WatchPhase) -> WatchOutcome:
    """The outcome that `error` means in `phase`."""
    if isinstance(error, ApiError):
        return _classify_answer(error, phase)
    if isinstance(error, StreamStalled):
        return WatchOutcome.IDLE
    if isinstance(error, TransportError):
        return WatchOutcome.UNREACHABLE
    return WatchOutcome.FAILED


def explain_watch_error(error: Exception, resource: Resource) -> str:
    """Why a kind cannot be followed, and what to do where only a person can mend it."""
    cannot = f"cannot read {resource.full_name}"
    match error:
        case NotFound():
            why = f"404, the server serves no {resource.plural} of {resource.api_version}"
            return error_text(cannot, why, f"install the definition of {resource.kind} (its CRD)")
        case Unauthorized():
            why = "401, the server does not accept our credentials: missing, wrong or expired"
            return error_text(cannot, why, "kubectl auth whoami, with the same kubeconfig")
        case Forbidden():
            hint = "`quintant manifests` prints the roles that a program needs"
            return error_text(cannot, f"403, {error.message}", hint)
        case _:
            return str(error) or type(error).__name__


def _classify_answer(error: ApiError, phase: WatchPhase) -> WatchOutcome:
    match error:
        case Expired():
            return WatchOutcome.EXPIRED
        case ApiError(status=504) if _ahead(error):
            return WatchOutcome.EXPIRED
        case BadRequest() | Invalid() | ApiError(status=501) if phase is WatchPhase.STREAMING:
            return WatchOutcome.REFUSED
        case TooManyRequests():
            return WatchOutcome.THROTTLED
        case Forbidden():
            return WatchOutcome.FORBIDDEN
        case NotFound():
            return WatchOutcome.MISSING
        case _:
            return WatchOutcome.FAILED


def _ahead(error: ApiError) -> bool:
    """Whether the server has not reached the version asked for; it may have lost its history."""
    causes = {cause.reason for cause in error.causes}
    return "ResourceVersionTooLarge" in causes or "Too large resource version" in error.message
