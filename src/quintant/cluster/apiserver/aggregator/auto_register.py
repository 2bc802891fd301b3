"""autoRegisterController: the APIServices of what this server serves itself. Pure.

Those of built-in groups are made once per start, and are the administrator's from then on; those of
custom resources come and go with their definitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from quintant.cluster.apiserver.aggregator.api_service import GROUP, ApiService
from quintant.cluster.apiserver.discovery.api_resources import (
    CUSTOM_GROUP_PRIORITY,
    CUSTOM_VERSION_PRIORITY,
)
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject

MANAGED = "kube-aggregator.kubernetes.io/automanaged"
ON_START, ALWAYS = "onstart", "true"
# Where each group stands in discovery; a version has the usual place unless it is named below.
_GROUPS = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "apiextensions.k8s.io": 16700,
    "admissionregistration.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
}
_USUAL_VERSION = 15
_VERSIONS = {
    "v1.": 1,
    "v2.autoscaling": 30,
    "v1.flowcontrol.apiserver.k8s.io": 21,
    "v1.resource.k8s.io": 21,
}
_LAST_GROUP, _LAST_VERSION = 100, 100
"""Of metrics.k8s.io, as metrics-server registers it."""


class Registrations(Struct, frozen=True):
    """What is to be written so that the APIServices are those of what is served."""

    create: tuple[JsonObject, ...] = ()
    update: tuple[JsonObject, ...] = ()
    delete: tuple[str, ...] = ()


def plan_registrations(
    kinds: Iterable[Kind], live: Mapping[str, ApiService], registered: Collection[str]
) -> Registrations:
    """What to write; `registered` were made since the start, and may have been removed since."""
    wanted = _wanted(kinds)
    create = [
        each
        for name, each in wanted.items()
        if name not in live and (_mode(each) == ALWAYS or name not in registered)
    ]
    ours = {name for name, each in live.items() if (each.metadata.labels or {}).get(MANAGED)}
    update = [
        each
        for name, each in wanted.items()
        if name in ours and _mode(each) == ALWAYS and not _says(live[name], each["spec"])
    ]
    always = {name for name in ours if (live[name].metadata.labels or {})[MANAGED] == ALWAYS}
    return Registrations(tuple(create), tuple(update), tuple(sorted(always - wanted.keys())))


def _wanted(kinds: Iterable[Kind]) -> dict[str, JsonObject]:
    """What is served, by the name of its APIService."""
    found: dict[str, JsonObject] = {}
    for kind in sorted(kinds, key=lambda kind: kind.custom):
        group, version = kind.resource.group, kind.resource.version
        name = f"{version}.{group}"
        if group != GROUP and name not in found:
            found[name] = _api_service(name, group, version, custom=kind.custom)
    return found


def _api_service(name: str, group: str, version: str, *, custom: bool) -> JsonObject:
    group_priority, version_priority = CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY
    if not custom:
        known = group in _GROUPS
        group_priority = _GROUPS.get(group, _LAST_GROUP)
        version_priority = _VERSIONS.get(name, _USUAL_VERSION if known else _LAST_VERSION)
    return {
        "metadata": {"name": name, "labels": {MANAGED: ALWAYS if custom else ON_START}},
        "spec": {
            **({"group": group} if group else {}),
            "version": version,
            "groupPriorityMinimum": group_priority,
            "versionPriority": version_priority,
        },
    }


def _mode(api_service: JsonObject) -> str:
    return str(api_service["metadata"]["labels"][MANAGED])


def _says(live: ApiService, spec: JsonObject) -> bool:
    """Whether a live one says what it should."""
    return (
        live.spec.service is None
        and live.spec.group_priority_minimum == spec["groupPriorityMinimum"]
        and live.spec.version_priority == spec["versionPriority"]
    )
