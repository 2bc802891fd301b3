"""ValidateStatefulSet: beyond what holds for every workload: claims, ordinals, retention."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.golang.printing import GoStruct
from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, invalid_each
from quintant.cluster.apiserver.meta.names import dns1123_label_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import validate_enum, validate_nonnegative
from quintant.cluster.apiserver.validation.storage import claim_causes
from quintant.cluster.apiserver.validation.workloads import validate_replicas
from quintant.core.errors import Cause

_ORDERS = ("OrderedReady", "Parallel")
_UPDATES = ("RollingUpdate", "OnDelete")
_KEEPING = ("Retain", "Delete")
_CHANGEABLE = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)
_FROZEN = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)


def validate_stateful_set(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a StatefulSet."""
    spec = obj["spec"]
    yield from _own_causes(spec)
    for at, claim in enumerate(spec.get("volumeClaimTemplates") or () if live is None else ()):
        yield from claim_causes(f"spec.volumeClaimTemplates[{at}].spec", claim.get("spec") or {})
    start = (spec.get("ordinals") or {}).get("start")
    ordinals = [*validate_nonnegative("spec.ordinals.start", start)]
    service = (spec.get("serviceName") or "") if live is None else ""
    names = invalid_each(
        "spec.serviceName", service, dns1123_label_errors(service) if service else []
    )
    shown = {**spec, "template": _member(spec)}
    found = [*validate_replicas("statefulset", shown)]
    counted = [cause for cause in found if cause.field in _COUNTS]
    yield from (*counted, *ordinals, *names, *found[len(counted) :])
    if live is not None and any(
        spec.get(name) != live["spec"].get(name)
        for name in {*spec, *live["spec"]}.difference(_CHANGEABLE)
    ):
        yield forbidden("spec", _FROZEN)


_COUNTS = ("spec.replicas", "spec.minReadySeconds")
"""What is looked at before the ordinals and the name of the service."""


def _own_causes(spec: JsonObject) -> Iterator[Cause]:
    order, strategy = spec["podManagementPolicy"], spec["updateStrategy"]
    if order not in _ORDERS:
        text = "must be 'OrderedReady' or 'Parallel'"
        yield invalid("spec.podManagementPolicy", order, text)
    yield from _update_causes(strategy["type"], strategy.get("rollingUpdate"))
    keeping = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for name in ("whenDeleted", "whenScaled"):
        path = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
        yield from validate_enum(path, keeping.get(name), _KEEPING)


def _update_causes(kind: str, rolling: JsonObject | None) -> Iterator[Cause]:
    path = "spec.updateStrategy"
    if kind not in _UPDATES:
        shown = GoStruct(Type=kind, RollingUpdate=_shown(rolling))
        yield invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")
    elif kind == "OnDelete" and rolling is not None:
        text = "only allowed for updateStrategy 'RollingUpdate'"
        yield invalid(f"{path}.rollingUpdate", _shown(rolling), text)
    elif rolling is not None:
        yield from validate_nonnegative(f"{path}.rollingUpdate.partition", rolling.get("partition"))


def _shown(rolling: JsonObject | None) -> GoStruct | None:
    """How members are replaced, as Go shows it."""
    if rolling is None:
        return None
    return GoStruct(
        Partition=rolling.get("partition", 0), MaxUnavailable=rolling.get("maxUnavailable")
    )


def _member(spec: JsonObject) -> JsonObject:
    """The template of a StatefulSet, with the claims and the names that its controller sets."""
    template, claims = spec["template"], spec.get("volumeClaimTemplates") or ()
    names = {claim.get("metadata", {}).get("name", ""): None for claim in claims}
    given = template["spec"].get("volumes") or ()
    volumes = [
        *({"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names),
        *(volume for volume in given if volume.get("name") not in names),
    ]
    set_later: JsonObject = {"volumes": volumes, "hostname": "", "subdomain": ""}
    return {**template, "spec": {**template["spec"], **set_later}}


STATEFUL_SETS = {"statefulsets": validate_stateful_set}
