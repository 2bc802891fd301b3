"""A review that came to no verdict, and the line between our code and the user's.

A denial is a verdict. A time-out, an object that does not fit its type, or an exception in a
handler is not: it becomes a `WebhookFailure`, and the review's failure policy decides what that
means.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from quintant.core.errors import QuintantError


class WebhookFailure(QuintantError):
    """Why there is no verdict, in words that may be shown to the client that sent the change."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message


@contextmanager
def failing_as(what: str) -> Iterator[None]:
    """Run a user's code: whatever it raises becomes a WebhookFailure that names its class."""
    try:
        yield
    except WebhookFailure:
        raise
    # The fourth place that owns recovery: one bad review must not take the server down. The text
    # of the error stays here, since it may quote the object, and so a secret.
    except Exception as error:
        raise WebhookFailure(
            500, "InternalError", f"{what} failed: {type(error).__name__}"
        ) from error
