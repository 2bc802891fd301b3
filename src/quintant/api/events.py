"""Events of the events.k8s.io group: what the runtime's recorder writes, and what a plan holds."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from quintant.api.meta import ObjectReference
from quintant.core.object import Model, Object
from quintant.core.resource import resource

EventType = Literal["Normal", "Warning"]
"""The two types of events there are."""


class EventSeries(Model):
    """How often the same thing happened, and when last; the time has microseconds."""

    count: int
    last_observed_time: str


@resource(group="events.k8s.io", version="v1")
class Event(Object):
    """Something that happened to `regarding`; `note` says it, `reason` names it in one word."""

    event_time: str | None = None
    series: EventSeries | None = None
    reporting_controller: str = ""
    reporting_instance: str = ""
    action: str = ""
    reason: str = ""
    regarding: ObjectReference = ObjectReference()
    related: ObjectReference | None = None
    note: str = ""
    type: str = ""


class PlannedEvent(Struct, frozen=True):
    """An event that is decided on and not yet recorded: what a plan may hold."""

    type: EventType
    reason: str
    note: str
    action: str = ""
    """Tells it apart from others of its reason, which would only be counted otherwise."""
