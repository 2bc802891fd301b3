"""What a reconcile says when it is over, and what the controller makes of it.

`None` (or DONE) means done until something changes; `Result(after=…)` asks to be called again.
Everything else a reconcile can do is raise. `classify_reconcile_error` turns any
error into one outcome.
"""

from __future__ import annotations

import math
from datetime import timedelta
from enum import Enum

from msgspec import Struct

from quintant.core.clock import seconds_of
from quintant.core.enums import fast_members
from quintant.core.errors import (
    AlreadyExists,
    ConfigError,
    Conflict,
    NotEngaged,
    NotFound,
    NotHeld,
    NotLeader,
    NotSelected,
    ServerError,
    StaleCache,
    Terminal,
    TooManyRequests,
    TransportError,
    leaf_errors,
)
from quintant.core.object import Request
from quintant.core.resource import Resource


class Result(Struct, frozen=True):
    """Call me again `after` so many seconds, at `priority` (the same as now, if not given).

    A time that has passed already means at once.
    """

    after: float | timedelta | None = None
    priority: int | None = None

    def __post_init__(self) -> None:
        if not (_delay(self.seconds) and isinstance(self.priority, int | None)):
            raise ConfigError(
                f"Result(after={self.after!r}, priority={self.priority!r}) makes no sense",
                because="after is a finite number of seconds, priority is an integer",
            )

    @property
    def seconds(self) -> float | None:
        """The delay in seconds; None when no call was asked for."""
        return None if self.after is None else seconds_of(self.after)


DONE: Result | None = None
"""Nothing is left to do until something changes."""


class ReconcileTimeout(Exception):
    """A reconcile took longer than its controller allows."""


class InvalidResult(Exception):
    """A reconciler returned something that is neither None nor a Result."""


@fast_members
class ReconcileOutcome(Enum):
    """How a reconcile ended: whether its failures are forgotten, retried, and how loud it is."""

    SUCCESS = "success"
    AGAIN = "requeue_after"
    CONFLICT = "conflict"
    """Somebody else wrote first: nothing is wrong, the next try sees the new state."""
    UNAVAILABLE = "unavailable"
    """The server cannot answer now; worth a warning, not an alarm."""
    TIMEOUT = "timeout"
    TERMINAL = "terminal"
    ERROR = "error"

    @property
    def resets_failures(self) -> bool:
        """Whether the count of failures starts over."""
        return self in (ReconcileOutcome.SUCCESS, ReconcileOutcome.AGAIN, ReconcileOutcome.TERMINAL)


# Of several errors at once, the one that counts: pointless is a retry only if all say so.
_GRAVITY = (
    ReconcileOutcome.TERMINAL,
    ReconcileOutcome.CONFLICT,
    ReconcileOutcome.UNAVAILABLE,
    ReconcileOutcome.TIMEOUT,
    ReconcileOutcome.ERROR,
)


def classify_reconcile_error(
    error: BaseException, about: Request, kind: Resource | None = None
) -> ReconcileOutcome:
    """The outcome of a reconcile of an object that raised; on a group, the gravest of its members.

    `kind` is that of the object; None where the key is no object.
    """
    return max((_judge(leaf, about, kind) for leaf in leaf_errors(error)), key=_GRAVITY.index)


def checked_result(result: object, whose: str) -> Result | None:
    """What a reconciler or a cleanup returned; InvalidResult unless it is one of the two."""
    if result is None or isinstance(result, Result):
        return result
    raise InvalidResult(f"{whose} returned {type(result).__name__}, not None or Result")


def _judge(error: BaseException, about: Request, kind: Resource | None) -> ReconcileOutcome:
    match error:
        case Terminal():
            return ReconcileOutcome.TERMINAL
        case Conflict() | AlreadyExists():
            return ReconcileOutcome.CONFLICT
        case NotFound() if kind is not None and _names(error, about, kind):
            return ReconcileOutcome.CONFLICT
        case TransportError() | TooManyRequests() | ServerError():
            return ReconcileOutcome.UNAVAILABLE
        case NotLeader() | NotSelected() | NotEngaged() | NotHeld() | StaleCache():
            return ReconcileOutcome.UNAVAILABLE
        case ReconcileTimeout():
            return ReconcileOutcome.TIMEOUT
        case _:
            return ReconcileOutcome.ERROR


def _names(error: NotFound, about: Request, kind: Resource) -> bool:
    """Whether it is this very object that was not found, and not a namesake of another kind."""
    details = error.details
    return (details.name, details.kind, details.group) == (about.name, kind.plural, kind.group)


def _delay(seconds: object) -> bool:
    if seconds is None:
        return True
    return isinstance(seconds, int | float) and math.isfinite(seconds)
