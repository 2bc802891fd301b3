"""How long a piece of work waited for the API server.

Requests tell the measurement that is under way where they are sent, tasks started inside it
included; a controller keeps one for each reconcile. Requests at the same time count each in full,
and whatever is retried or held back by a rate limit counts from the first try.
"""

from __future__ import annotations

from contextvars import ContextVar


class ApiTime:
    """The sum of a measurement, so far; a context manager, inside which requests are added up."""

    __slots__ = ("_token", "outer", "seconds")

    def __init__(self) -> None:
        self.seconds: float = 0.0
        self.outer: ApiTime | None = None
        """The measurement that this one is inside of."""

    def __enter__(self) -> ApiTime:
        self.outer = _current.get()
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


_current: ContextVar[ApiTime | None] = ContextVar("api_time", default=None)


def measure_api_time() -> ApiTime:
    """Add up the time of all requests that are sent inside `with measure_api_time() as time:`."""
    return ApiTime()


def add_api_time(seconds: float) -> None:
    """A request took so long: report it to the one that measures."""
    measured = _current.get()
    while measured is not None:  # whatever measures around it counts the request, too
        measured.seconds += seconds
        measured = measured.outer
