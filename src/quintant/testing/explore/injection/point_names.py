"""What points are called: by their numbers, or by what they are.

On a virtual loop the fourth write is the same one in every run. Of a process in real time it is
not: `explore.foreign.points` has names for its points.
"""

from __future__ import annotations

from typing import Protocol

from quintant.client.request_info import ResourcePath
from quintant.client.transport import ApiRequest
from quintant.testing.explore.injection.process import WatchedEvent


class PointNames(Protocol):
    """Names points as they come."""

    def written(self, call: ApiRequest, at: ResourcePath) -> ResourcePath:
        """What a write is about, as far as that is known."""

    def of_write(self, call: ApiRequest, at: ResourcePath) -> str:
        """The name of a write that comes now; empty if its number is one."""

    def of_event(self, at: ResourcePath, event: WatchedEvent) -> str | None:
        """The name of an event that comes now; None if it is no point, for it was one before."""


class NumberedPoints:
    """Numbers are names enough."""

    def written(self, call: ApiRequest, at: ResourcePath) -> ResourcePath:
        return at

    def of_write(self, call: ApiRequest, at: ResourcePath) -> str:
        return ""

    def of_event(self, at: ResourcePath, event: WatchedEvent) -> str | None:
        return ""


NUMBERED = NumberedPoints()
