"""ValidatePodDisruptionBudget: its selector, minAvailable and maxUnavailable."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quintant.cluster.apiserver.golang.printing import GoStruct
from quintant.cluster.apiserver.meta.field_errors import invalid
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    validate_at_most_whole,
    validate_enum,
    validate_int_or_percent,
)
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.core.errors import Cause

_UNHEALTHY = ("AlwaysAllow", "IfHealthyBudget")


def validate_disruption_budget(budget: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a PodDisruptionBudget."""
    spec = budget["spec"]
    low, high = spec.get("minAvailable"), spec.get("maxUnavailable")
    if low is not None and high is not None:
        names = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
        value = GoStruct({name[0].upper() + name[1:]: spec.get(name) for name in names})
        yield invalid("spec", value, "minAvailable and maxUnavailable cannot be both set")
    for name in ("minAvailable", "maxUnavailable"):
        if spec.get(name) is not None:
            yield from validate_int_or_percent(f"spec.{name}", spec[name])
            yield from validate_at_most_whole(f"spec.{name}", spec[name])
    if spec.get("selector") is not None:
        yield from selector_causes("spec.selector", spec["selector"])
    if spec.get("unhealthyPodEvictionPolicy") is not None:
        policy = spec["unhealthyPodEvictionPolicy"]
        yield from validate_enum("spec.unhealthyPodEvictionPolicy", policy, _UNHEALTHY)


DISRUPTION_BUDGETS: dict[str, Callable[[JsonObject, JsonObject | None], Iterator[Cause]]] = {
    "poddisruptionbudgets": validate_disruption_budget,
}
