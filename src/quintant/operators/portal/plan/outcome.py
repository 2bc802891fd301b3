"""What became of the Deployment in one pass: told in the status and in events."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from quintant.core.errors import QuintantError


class OperationResult(Enum):
    """What was done about the Deployment in this pass."""

    NONE = auto()  # nothing was tried: something it depends on is missing
    UNCHANGED = auto()  # it is as desired
    CREATED = auto()
    UPDATED = auto()  # what we want has changed
    CORRECTED = auto()  # somebody else had changed it
    WAITING = auto()  # one of an earlier namesake is still going away
    CONFLICT = auto()  # it belongs to somebody else
    REFUSED = auto()  # the server would not have it


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result, and what was said about it."""

    result: OperationResult = OperationResult.NONE
    message: str = ""
    creating: bool = True
    """With REFUSED: whether it was to be created."""
    error: QuintantError | None = None
    """With REFUSED: what the server answered; the next try is the queue's."""
