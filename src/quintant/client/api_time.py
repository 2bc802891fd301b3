"""How long a piece of work waited for the API server.

Requests tell the measurement that is under way where they are sent, tasks started inside it
included; a controller keeps one for each reconcile. Requests at the same time count each in full,
and whatever is retried or held back by a rate limit counts from the first try.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class ApiTime:
    """The sum of a measurement, so far."""

    __slots__ = ("_outer", "seconds")

    def __init__(self, outer: ApiTime | None = None) -> None:
        self.seconds = 0.0
        self._outer = outer

    def add(self, seconds: float) -> None:
        """A request took so long; whatever measures around this one counts it, too."""
        self.seconds += seconds
        if self._outer is not None:
            self._outer.add(seconds)


_current: ContextVar[ApiTime | None] = ContextVar("api_time", default=None)


@contextmanager
def measure_api_time() -> Iterator[ApiTime]:
    """Add up, in what is yielded, the time of all requests that are sent meanwhile."""
    measured = ApiTime(_current.get())
    token = _current.set(measured)
    try:
        yield measured
    finally:
        _current.reset(token)


def add_api_time(seconds: float) -> None:
    """A request took so long: tell whoever measures."""
    if (measured := _current.get()) is not None:
        measured.add(seconds)
