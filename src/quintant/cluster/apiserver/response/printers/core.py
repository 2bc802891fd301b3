"""printNode, printSecret, printEvent: the printer columns of the core group, but for pods."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers import (
    AGE,
    NAME,
    NONE,
    UNKNOWN,
    UNSET,
    WIDE,
    Printer,
    TableColumn,
    column,
    metadata,
    part,
    spec,
    status,
    wide,
)
from quintant.cluster.apiserver.response.printers.age import age

_ROLE = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_CLASS = "volume.beta.kubernetes.io/storage-class"


def _size(*fields: str) -> TableColumn:
    return column("Data", lambda obj: sum(len(obj.get(name) or ()) for name in fields))


def _node_state(node: JsonObject) -> str:
    conditions = status(node).get("conditions") or ()
    ready = next((each["status"] for each in conditions if each.get("type") == "Ready"), None)
    state = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return f"{state},SchedulingDisabled" if spec(node).get("unschedulable") else state


def _roles(node: JsonObject) -> str:
    labels = metadata(node).get("labels") or {}
    named = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    return ",".join(sorted((named | {labels.get(_ROLE_LABEL, "")}) - {""})) or NONE


def _node_address(sort: str) -> TableColumn:
    def read(node: JsonObject) -> str:
        found = status(node).get("addresses") or ()
        return next((each["address"] for each in found if each.get("type") == sort), NONE)

    return wide(f"{sort[:8]}-IP", read)


def _node_info(title: str, name: str) -> TableColumn:
    return wide(title, lambda node: part(node, "status", "nodeInfo").get(name) or UNKNOWN)


def _modes(modes: Iterable[str] | None) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def _phase(volume: JsonObject) -> str:
    deleted = metadata(volume).get("deletionTimestamp")
    return "Terminating" if deleted else status(volume).get("phase", "")


def _claim(volume: JsonObject) -> str:
    claim = spec(volume).get("claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _class(volume: JsonObject) -> str:
    old = part(volume, "metadata", "annotations").get(_CLASS)
    return str(old or spec(volume).get("storageClassName") or "")


def _bound(claim: JsonObject) -> JsonObject:
    """What a claim got; nothing as long as it has no volume."""
    return status(claim) if spec(claim).get("volumeName") else {}


def _capacity(claim: JsonObject) -> str:
    bound = _bound(claim)
    return str((bound.get("capacity") or {}).get("storage", "0")) if bound else ""


_ATTRIBUTES = column(
    "VolumeAttributesClass", lambda obj: spec(obj).get("volumeAttributesClassName") or UNSET
)
_MODE = wide("VolumeMode", lambda obj: spec(obj).get("volumeMode") or UNSET)


def _first_seen(event: JsonObject, now: datetime) -> str:
    return age(event.get("firstTimestamp") or event.get("eventTime"), now)


def _last_seen(event: JsonObject, now: datetime) -> str:
    series = event.get("series")
    if series:
        return age(series.get("lastObservedTime"), now)
    last = event.get("lastTimestamp")
    return age(last, now) if last else _first_seen(event, now)


def _times(event: JsonObject) -> int:
    return int(part(event, "series").get("count") or event.get("count") or 1)


def _about(event: JsonObject) -> str:
    about = part(event, "involvedObject")
    kind, name = about.get("kind", "").lower(), about.get("name")
    return f"{kind}/{name}" if name else kind


def _source(event: JsonObject) -> str:
    source = part(event, "source")
    component = source.get("component") or event.get("reportingComponent") or ""
    host = source.get("host") or event.get("reportingInstance")
    return f"{component}, {host}" if host else component


CONFIG_MAP = Printer((NAME, _size("data", "binaryData"), AGE))
SECRET = Printer((NAME, column("Type", lambda obj: obj.get("type", "")), _size("data"), AGE))
SERVICE_ACCOUNT = Printer((NAME, AGE))
NAMESPACE = Printer((NAME, column("Status", lambda obj: status(obj).get("phase", "")), AGE))
NODE = Printer(
    (
        NAME,
        column("Status", _node_state),
        column("Roles", _roles),
        AGE,
        column("Version", lambda node: part(node, "status", "nodeInfo").get("kubeletVersion", "")),
        _node_address("InternalIP"),
        _node_address("ExternalIP"),
        _node_info("OS-Image", "osImage"),
        _node_info("Kernel-Version", "kernelVersion"),
        _node_info("Container-Runtime", "containerRuntimeVersion"),
    )
)
VOLUME = Printer(
    (
        NAME,
        column("Capacity", lambda obj: str(part(obj, "spec", "capacity").get("storage", "0"))),
        column("Access Modes", lambda obj: _modes(spec(obj).get("accessModes"))),
        column("Reclaim Policy", lambda obj: spec(obj).get("persistentVolumeReclaimPolicy", "")),
        column("Status", _phase),
        column("Claim", _claim),
        column("StorageClass", _class),
        _ATTRIBUTES,
        column("Reason", lambda obj: status(obj).get("reason", "")),
        *(AGE, _MODE),
    )
)
CLAIM = Printer(
    (
        NAME,
        column("Status", _phase),
        column("Volume", lambda obj: spec(obj).get("volumeName", "")),
        column("Capacity", _capacity),
        column("Access Modes", lambda obj: _modes(_bound(obj).get("accessModes"))),
        column("StorageClass", _class),
        *(_ATTRIBUTES, AGE, _MODE),
    )
)
EVENT = Printer(
    (
        TableColumn("Last Seen", _last_seen),
        column("Type", lambda obj: obj.get("type", "")),
        column("Reason", lambda obj: obj.get("reason", "")),
        column("Object", _about),
        wide("Subobject", lambda obj: part(obj, "involvedObject").get("fieldPath", "")),
        wide("Source", _source),
        column("Message", lambda obj: obj.get("message", "").strip()),
        TableColumn("First Seen", _first_seen, priority=WIDE),
        wide("Count", _times),
        TableColumn("Name", NAME.cell, format="name", priority=WIDE),
    )
)
