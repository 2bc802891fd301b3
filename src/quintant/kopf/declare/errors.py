"""What handlers raise, and how errors that are neither are taken."""

from __future__ import annotations

from enum import Enum, auto


class PermanentError(Exception):
    """The handler failed for good: it is not called again for this change."""


class TemporaryError(Exception):
    """The handler wants to be called again after `delay` seconds."""

    def __init__(self, message: str | None = None, /, delay: float | None = 60) -> None:
        super().__init__(message)
        self.delay = delay


class HandlerTimeoutError(PermanentError):
    """The handler was not done within its `timeout`."""


class HandlerRetriesError(PermanentError):
    """The handler was not done within its `retries`."""


class ChildrenUnfinished(TemporaryError):
    """Handlers within a handler are not done yet."""


class AdmissionError(PermanentError):
    """The request is refused, with a message and an HTTP code."""

    def __init__(self, message: str | None = "", /, code: int | None = 500) -> None:
        super().__init__(message)
        self.code = code


class ActivityError(Exception):
    """A handler of start or end failed for good."""


class LoginError(Exception):
    """No credentials could be had."""


class ErrorsMode(Enum):
    """How an error is taken that is neither permanent nor temporary."""

    IGNORED = auto()
    TEMPORARY = auto()
    PERMANENT = auto()
