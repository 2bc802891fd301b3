"""The last events of the cluster, whatever they are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quintant.api.events import Event, EventSeries
from quintant.api.meta import ObjectReference
from quintant.console.links import cut, object_link
from quintant.console.publisher import Publisher
from quintant.console.sources import AnyChange, Sources
from quintant.console.topics import AccessScope, Topic, TopicRow
from quintant.core.object import Object, ObjectMeta
from quintant.core.resource import Resource, projection, resource_of

MOST_EVENTS = 200
MOST_HELD = 2000
"""Events of one object's page are looked for among these, the newest."""
BUILT_IN = {
    "Pod": Resource("", "v1", "Pod", "pods"),
    "Node": Resource("", "v1", "Node", "nodes", namespaced=False),
    "Service": Resource("", "v1", "Service", "services"),
    "PersistentVolumeClaim": Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    "Deployment": Resource("apps", "v1", "Deployment", "deployments"),
    "StatefulSet": Resource("apps", "v1", "StatefulSet", "statefulsets"),
    "ReplicaSet": Resource("apps", "v1", "ReplicaSet", "replicasets"),
    "DaemonSet": Resource("apps", "v1", "DaemonSet", "daemonsets"),
    "Job": Resource("batch", "v1", "Job", "jobs"),
    "CronJob": Resource("batch", "v1", "CronJob", "cronjobs"),
}
"""Kinds of Kubernetes that have pages."""


@projection(of=Event)
class _WireEvent(Object):
    """An event, with what clients that write the old kind say of time and number."""

    event_time: str | None = None
    series: EventSeries | None = None
    deprecated_last_timestamp: str | None = None
    deprecated_count: int | None = None
    reason: str = ""
    regarding: ObjectReference = ObjectReference()
    note: str = ""
    type: str = ""


def _made(wire: _WireEvent) -> EventView:
    series, meta = wire.series, wire.metadata
    last = series.last_observed_time if series is not None else wire.deprecated_last_timestamp
    time = last or wire.event_time or meta.creation_timestamp or ""
    count = series.count if series is not None else wire.deprecated_count
    return EventView(
        metadata=ObjectMeta(
            name=meta.name, namespace=meta.namespace, uid=meta.uid,
            resource_version=meta.resource_version,
        ),
        time=time,
        type=wire.type,
        reason=wire.reason,
        note=cut(wire.note),
        count=count or 1,
        regarding=wire.regarding,
    )  # fmt: skip


@projection(of=Event, wire=_WireEvent, transform=_made)
class EventView(Object):
    """An event, as it is shown."""

    time: str = ""
    type: str = ""
    reason: str = ""
    note: str = ""
    count: int = 1
    regarding: ObjectReference = ObjectReference()


EVENTS = resource_of(EventView)


class EventsBoard:
    """The topic of events."""

    def __init__(self, publisher: Publisher, sources: Sources) -> None:
        self.topic: Topic = publisher.add(Topic("events"))
        self._publisher = publisher
        self._events: dict[str, EventView] = {}
        self._listeners: list[Callable[[], None]] = []
        sources.subscribe(EVENTS, self._heard)
        sources.follow_view(EventView)
        publisher.mark(self)

    def of(self, uid: str) -> list[EventView]:
        """The events about an object, the newest first."""
        found = [each for each in self._events.values() if each.regarding.uid == uid]
        return sorted(found, key=lambda each: each.time, reverse=True)

    def flush(self) -> None:
        newest = sorted(self._events.values(), key=lambda each: each.time, reverse=True)
        for each in newest[MOST_HELD:]:
            del self._events[each.metadata.uid]
        rows = {each.metadata.uid: event_row(each) for each in newest[:MOST_EVENTS]}
        if self.topic.replace(rows):
            for listener in list(self._listeners):
                listener()

    def on_flush(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Hear when there are new events; call what is returned to hear no more."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _heard(self, _resource: Resource, change: AnyChange) -> None:
        if change.new is None and change.old is not None:
            self._events.pop(change.old.metadata.uid, None)
        elif change.new is not None:
            self._events[change.new.metadata.uid] = change.new
        self._publisher.mark(self)


def event_row(event: EventView) -> TopicRow:
    """An event as a row."""
    regarding = event.regarding
    fields: dict[str, Any] = {
        "time": event.time, "type": event.type, "reason": event.reason, "message": event.note,
        "count": event.count,
        "object": {
            "kind": regarding.kind, "namespace": regarding.namespace, "name": regarding.name,
            "link": _link(regarding),
        },
    }  # fmt: skip
    return TopicRow(fields, AccessScope(EVENTS.group, EVENTS.plural, event.metadata.namespace))


def _link(regarding: ObjectReference) -> str:
    """The page of what an event is about; empty if none is known."""
    group, _, version = regarding.api_version.rpartition("/")
    built_in = BUILT_IN.get(regarding.kind)
    if built_in is not None and (built_in.group == group or not version):
        return object_link(built_in, regarding.name, regarding.namespace)
    if not group or not regarding.name:
        return ""
    # The plural of a kind is its definition's to say; the usual one is right nearly always.
    resource = Resource(group, version, regarding.kind, f"{regarding.kind.lower()}s")
    return object_link(resource, regarding.name, regarding.namespace)
