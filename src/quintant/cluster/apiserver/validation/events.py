"""ValidateEventCreate, ValidateEventUpdate: by the rules of core/v1 and of events.k8s.io/v1.

Requests to core/v1 are held to little, to more if the event has a time of its own; those to
events.k8s.io/v1 to everything that group promises. Fields are named as core/v1 names them.
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.conversion.events import to_core
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_each, required
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors, qualified_name_errors
from quintant.cluster.apiserver.meta.objectmeta import validate_object_meta
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import validate_immutable
from quintant.core.errors import Cause

WORD_LIMIT, NOTE_LIMIT = 128, 1024
"""Characters of what names something, and of what people read."""
LEAST_SERIES = 2
"""Events of a series: one is none."""
_CORE = "v1"
_ANYWHERE = ("", "default")
_TYPES = ("Normal", "Warning")
_UNSET = ("firstTimestamp", "lastTimestamp", "count", "source")
_FIXED = (
    *("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count"),
    *("reason", "type", "eventTime", "action", "related"),
)


def validate_event(event: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with an Event of either group."""
    core, sent = event["apiVersion"] == _CORE, event
    if not core:
        event = to_core(event)
    yield from _always(event, core=core)
    if core:
        return
    if live is None:
        yield from validate_object_meta(event["metadata"], dns1123_subdomain_errors, core=True)
        yield from _new(event)
    else:
        before = to_core(live)
        for name in _FIXED:
            yield from validate_immutable(name, event.get(name), before.get(name))
        for name in ("reportingController", "reportingInstance"):
            yield from validate_immutable(name, sent.get(name), live.get(name))
    yield from _series(event.get("series"))


def _always(event: JsonObject, *, core: bool) -> Iterator[Cause]:
    namespace = event["metadata"]["namespace"]
    involved_namespace = (event.get("involvedObject") or {}).get("namespace", "")
    if not event.get("eventTime"):
        if involved_namespace != namespace and (involved_namespace or namespace not in _ANYWHERE):
            yield invalid(
                "involvedObject.namespace", involved_namespace, "does not match event.namespace"
            )
        return
    if not involved_namespace and namespace not in _ANYWHERE:
        yield invalid(
            "involvedObject.namespace", involved_namespace, "does not match event.namespace"
        )
    yield from _controller(event, "reportingComponent" if core else "reportingController")
    for name in ("reportingInstance", "action", "reason"):
        yield from _word(name, event.get(name) or "")
    if len(event.get("message") or "") > NOTE_LIMIT:
        yield invalid("message", "", f"can have at most {NOTE_LIMIT} characters")


def _controller(event: JsonObject, field: str) -> Iterator[Cause]:
    name = event.get("reportingComponent") or ""
    if not name:
        yield required(field)
    yield from invalid_each(field, name, qualified_name_errors(name))


def _word(name: str, value: str) -> Iterator[Cause]:
    if not value:
        yield required(name)
    if len(value) > WORD_LIMIT:
        yield invalid(name, "", f"can have at most {WORD_LIMIT} characters")


def _new(event: JsonObject) -> Iterator[Cause]:
    if not event.get("eventTime"):
        yield required("eventTime")
    kind = event.get("type") or ""
    if kind not in _TYPES:
        yield invalid("type", "", f"has invalid value: {kind}")
    for name in _UNSET:
        if event.get(name):
            yield invalid(name, "", "needs to be unset")


def _series(series: JsonObject | None) -> Iterator[Cause]:
    if series is None:
        return
    if (series.get("count") or 0) < LEAST_SERIES:
        yield invalid("series.count", "", f"should be at least {LEAST_SERIES}")
    if not series.get("lastObservedTime"):
        yield required("series.lastObservedTime")
