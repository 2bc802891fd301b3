"""ValidateDeployment, ValidateReplicaSet, ValidateDaemonSet: replicas, selector, strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quintant.cluster.apiserver.go_types import FieldKind, FieldType
from quintant.cluster.apiserver.go_types.go_struct import struct
from quintant.cluster.apiserver.golang.printing import GoStruct
from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.selectors import from_object
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    int_or_percent_value,
    validate_at_most_whole,
    validate_enum,
    validate_immutable,
    validate_int_or_percent,
    validate_nonnegative,
)
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.cluster.apiserver.validation.pods.pods import template_causes
from quintant.core.errors import Cause

_UPDATES = ("Recreate", "RollingUpdate")
_COUNTS = (
    *("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    "unavailableReplicas",
)
# What a ReplicaSet is refused for, a Deployment is, too.
_NAMES = {"deployment": "ReplicaSet", "statefulset": "StatefulSet"}
_UNREADABLE = {"deployment": "invalid label selector", "statefulset": ""}
_SELECTOR = FieldType(FieldKind.MESSAGE, name="meta.v1.LabelSelector")
_STRATEGIES = ("RollingUpdate", "OnDelete")


def validate_deployment(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a Deployment."""
    spec = obj["spec"]
    yield from validate_replicas("deployment", spec)
    yield from _strategy_causes(spec["strategy"])
    deadline, ready = spec["progressDeadlineSeconds"], spec.get("minReadySeconds", 0)
    yield from validate_nonnegative("spec.revisionHistoryLimit", spec["revisionHistoryLimit"])
    yield from validate_nonnegative("spec.progressDeadlineSeconds", deadline)
    if deadline <= ready:
        yield invalid(
            "spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"
        )
    yield from validate_selector_unchanged(spec, live)
    yield from _progress_causes(obj.get("status") or {})


def validate_replica_set(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a ReplicaSet."""
    yield from validate_replicas("deployment", obj["spec"])
    yield from validate_selector_unchanged(obj["spec"], live)


def validate_daemon_set(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a DaemonSet."""
    spec = obj["spec"]
    yield from validate_selector_unchanged(spec, live)
    yield from _matching("daemonset", spec, needed=False)
    yield from template_causes("spec.template", spec["template"])
    yield from validate_restart_always(spec, "DaemonSet")
    yield from validate_nonnegative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from _update_causes(spec["updateStrategy"])
    yield from validate_nonnegative("spec.revisionHistoryLimit", spec["revisionHistoryLimit"])


def _progress_causes(status: JsonObject) -> Iterator[Cause]:
    """What cannot be, in a Deployment's status."""
    counts = {name: status.get(name, 0) for name in ("observedGeneration", *_COUNTS)}
    for name, count in counts.items():
        yield from validate_nonnegative(f"status.{name}", count)
    whole, text = counts["replicas"], "cannot be greater than status.replicas"
    for name in ("updatedReplicas", "readyReplicas", "availableReplicas"):
        if counts[name] > whole:
            yield invalid(f"status.{name}", counts[name], text)
    if counts["availableReplicas"] > counts["readyReplicas"]:
        text = "cannot be greater than readyReplicas"
        yield invalid("status.availableReplicas", counts["availableReplicas"], text)


def validate_replicas(kind: str, spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with how many pods there shall be, of which template."""
    yield from validate_nonnegative("spec.replicas", spec["replicas"])
    yield from validate_nonnegative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from _matching(kind, spec, needed=True)
    yield from template_causes("spec.template", spec["template"])
    yield from validate_restart_always(spec, _NAMES[kind])


def _matching(kind: str, spec: JsonObject, *, needed: bool) -> Iterator[Cause]:
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels")
    if selector is None:
        if needed:
            yield required("spec.selector")
    elif not selector:
        yield invalid("spec.selector", {}, f"empty selector is invalid for {kind}")
        return
    elif odd := [*selector_causes("spec.selector", selector)]:
        yield from odd
        if kind in _UNREADABLE:
            yield invalid("spec.selector", struct(_SELECTOR, selector), _UNREADABLE[kind])
        return
    if selector is None or not from_object(selector).matches(labels or {}):
        text = "`selector` does not match template `labels`"
        yield invalid("spec.template.metadata.labels", labels, text)


def validate_restart_always(spec: JsonObject, kind: str) -> Iterator[Cause]:
    """Pods that are kept running have no end."""
    pod, path = spec["template"]["spec"], "spec.template.spec"
    yield from validate_enum(f"{path}.restartPolicy", pod["restartPolicy"], ["Always"])
    if "activeDeadlineSeconds" in pod:
        text = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden(f"{path}.activeDeadlineSeconds", text)


def validate_selector_unchanged(spec: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """Which pods are meant may not change."""
    if live is not None:
        now, then = (struct(_SELECTOR, each.get("selector")) for each in (spec, live["spec"]))
        yield from validate_immutable("spec.selector", now, then)


def _update_causes(strategy: JsonObject) -> Iterator[Cause]:
    path, rolling = "spec.updateStrategy.rollingUpdate", strategy.get("rollingUpdate")
    if strategy["type"] not in _STRATEGIES:
        shown = GoStruct(Type=strategy["type"], RollingUpdate=_shown(rolling))
        yield not_supported("spec.updateStrategy", shown, _STRATEGIES)
    if strategy["type"] != "RollingUpdate" or rolling is None:
        return
    for name in ("maxUnavailable", "maxSurge"):
        yield from validate_int_or_percent(f"{path}.{name}", rolling[name])
    for name in ("maxUnavailable", "maxSurge"):
        yield from validate_at_most_whole(f"{path}.{name}", rolling[name])
    lacking, more = (int_or_percent_value(rolling[name]) for name in ("maxUnavailable", "maxSurge"))
    if lacking and more:
        text = "may not be set when maxUnavailable is non-zero"
        yield invalid(f"{path}.maxSurge", rolling["maxSurge"], text)
    elif not lacking and not more:
        yield required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _shown(rolling: JsonObject | None) -> GoStruct | None:
    """How a Deployment is rolled out, as Go shows it."""
    if rolling is None:
        return None
    return GoStruct(
        MaxUnavailable=rolling.get("maxUnavailable"),
        MaxSurge=rolling.get("maxSurge"),
    )


def _strategy_causes(strategy: JsonObject) -> Iterator[Cause]:
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind not in _UPDATES:
        yield not_supported(
            "spec.strategy", GoStruct(Type=kind, RollingUpdate=_shown(rolling)), _UPDATES
        )
    elif kind == "Recreate" and rolling is not None:
        text = "may not be specified when strategy `type` is 'Recreate'"
        yield forbidden("spec.strategy.rollingUpdate", text)
    elif rolling is not None:
        for name in ("maxUnavailable", "maxSurge"):
            yield from validate_int_or_percent(f"spec.strategy.rollingUpdate.{name}", rolling[name])
        path = "spec.strategy.rollingUpdate.maxUnavailable"
        if not int_or_percent_value(rolling["maxUnavailable"]) and not int_or_percent_value(
            rolling["maxSurge"]
        ):
            yield invalid(path, rolling["maxUnavailable"], "may not be 0 when `maxSurge` is 0")
        yield from validate_at_most_whole(path, rolling["maxUnavailable"])


WORKLOADS: dict[str, Callable[[JsonObject, JsonObject | None], Iterator[Cause]]] = {
    "daemonsets": validate_daemon_set,
    "deployments": validate_deployment,
    "replicasets": validate_replica_set,
}
