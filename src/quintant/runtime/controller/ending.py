"""How a reconcile of a key has ended, and how loud that is in the log."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from quintant.core.errors import QuintantError, TooManyRequests, leaf_errors
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.observe.metrics import Outcome
from quintant.runtime.reconcile.result import ReconcileOutcome, ReconcileTimeout, Result

log: Final = get_logger()

# By name: the hash of an enum's member is a function in Python.
LABELS: Final[dict[str, Outcome]] = {
    "SUCCESS": "success",
    "AGAIN": "requeue_after",
    "CONFLICT": "conflict",
}
"""What metrics and traces call an outcome; every other is an error."""


class ReconcileEnding(Struct, frozen=True):
    """What came of one reconcile of a key."""

    outcome: ReconcileOutcome
    result: Result | None = None
    error: Exception | None = None
    delay: float | None = None
    """Seconds until the next try, if a retry policy has said so."""

    @property
    def errors(self) -> list[BaseException]:
        """What was raised, one by one."""
        return leaf_errors(self.error) if self.error is not None else []

    @property
    def why(self) -> str:
        """What the errors say."""
        return "; ".join(_named(error) for error in self.errors)

    @property
    def retry_after(self) -> float:
        """How many seconds of patience a busy server asked for."""
        delays = (err.retry_after for err in self.errors if isinstance(err, TooManyRequests))
        return max(delays, default=0.0)

    def log(self) -> None:
        """Write a line about it, if it failed."""
        match self.outcome:
            case ReconcileOutcome.CONFLICT:
                log.debug("reconcile met a conflict", why=self.why)
            case ReconcileOutcome.UNAVAILABLE:
                log.warning("reconcile will be retried", why=self.why)
            case ReconcileOutcome.TIMEOUT:
                log.error("reconcile timed out", why=self.why)
            case ReconcileOutcome.TERMINAL:
                log.error("reconcile gave up until the object changes", why=self.why)
            case ReconcileOutcome.ERROR:
                log.error("reconcile failed", why=self.why, exc_info=self.error)


def _named(error: BaseException) -> str:
    """What an error says; with its name, where its text alone says little (KeyError: 'a')."""
    ours = isinstance(error, QuintantError | ReconcileTimeout)
    return str(error) if ours else f"{type(error).__name__}: {error}"
