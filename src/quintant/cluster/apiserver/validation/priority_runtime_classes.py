"""ValidatePriorityClass, ValidateRuntimeClass: values, handlers, overhead."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quintant.cluster.apiserver.meta.field_errors import forbidden
from quintant.cluster.apiserver.meta.names import dns1123_label_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    validate_enum,
    validate_immutable,
    validate_labels,
    validate_quantity,
    validate_required_name,
)
from quintant.cluster.apiserver.validation.pods.scheduling import toleration_causes
from quintant.core.errors import Cause

PRIORITY_LIMIT = 1_000_000_000
"""The highest priority that does not belong to the system."""


def validate_priority_class(priority: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a PriorityClass."""
    value, policy = priority.get("value", 0), priority.get("preemptionPolicy")
    if live is not None:
        if value != live.get("value", 0):
            yield forbidden("value", "may not be changed in an update.")
        yield from validate_immutable("preemptionPolicy", policy, live.get("preemptionPolicy"))
        return
    system = priority["metadata"].get("name", "").startswith("system-")
    if value > PRIORITY_LIMIT and not system:
        text = f"maximum allowed value of a user defined priority is {PRIORITY_LIMIT}"
        yield forbidden("value", text)
    yield from validate_enum("preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))


def validate_runtime_class(runtime: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a RuntimeClass."""
    handler = runtime.get("handler") or ""
    yield from validate_required_name("handler", handler, dns1123_label_errors)
    for name, amount in ((runtime.get("overhead") or {}).get("podFixed") or {}).items():
        yield from validate_quantity(f"overhead.limits[{name}]", amount)
    scheduling = runtime.get("scheduling") or {}
    yield from validate_labels("scheduling.nodeSelector", scheduling.get("nodeSelector"))
    yield from toleration_causes("scheduling.tolerations", scheduling.get("tolerations") or [])
    if live is not None:
        yield from validate_immutable("handler", handler, live.get("handler"))


CLASSES: dict[str, Callable[[JsonObject, JsonObject | None], Iterator[Cause]]] = {
    "priorityclasses": validate_priority_class,
    "runtimeclasses": validate_runtime_class,
}
