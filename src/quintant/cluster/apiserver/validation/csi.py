"""ValidateCSINode, ValidateCSIDriver, ValidateVolumeAttachment: what drivers tell.

Stored for drivers and tools that read them; nothing here attaches a volume or has a device. What is
asked of devices, in a claim, a class or a slice, is stored as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    not_supported,
    required,
    too_long,
)
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors, qualified_name_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    validate_enum,
    validate_immutable,
    validate_nonnegative,
)
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.core.errors import Cause

DRIVER_NAME_LIMIT = 63
NODE_ID_LIMIT = 256
MESSAGE_LIMIT = 1024
METADATA_LIMIT = 256 * 1024
"""Bytes of what a driver notes of an attachment."""
SHORTEST_TOKEN, LONGEST_TOKEN = 600, 2**32
"""Seconds that a token for a driver may be good for."""
SHORTEST_UPDATE = 10
"""Seconds between two reports of how many volumes a node has room for."""
_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_MODES = ("Persistent", "Ephemeral")
_EITHER = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def validate_csi_node(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with the drivers of a node."""
    names: set[str] = set()
    drivers = obj["spec"].get("drivers") or ()
    for at, driver in enumerate(drivers):
        path, name = f"spec.drivers[{at}]", driver.get("name") or ""
        yield from _driver_name_causes(f"{path}.name", name)
        yield from _node_id_causes(f"{path}.nodeID", driver.get("nodeID") or "")
        count = (driver.get("allocatable") or {}).get("count")
        yield from validate_nonnegative(f"{path}.allocatable.count", count)
        if name in names:
            yield duplicate(f"{path}.name", name)
        names.add(name)
        yield from _topology_causes(path, driver)
    for before in ((live or {}).get("spec") or {}).get("drivers") or ():
        for driver in drivers:
            if driver.get("name") == before.get("name"):
                yield from validate_immutable("spec.drivers", _fixed(driver), _fixed(before))


def validate_storage_capacity(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with what a driver tells of its room."""
    name, size = obj.get("storageClassName") or "", obj.get("capacity")
    if live is None:
        yield from selector_causes("nodeTopology", obj.get("nodeTopology") or {})
        yield from invalid_each("storageClassName", name, dns1123_subdomain_errors(name))
        if size is not None and parse_quantity(size) < 0:
            yield invalid("capacity", size, "must be greater than or equal to 0")
        return
    for field in ("nodeTopology", "storageClassName"):
        yield from validate_immutable(field, obj.get(field), live.get(field))


def validate_attributes_class(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with the attributes that volumes may be given."""
    for field in ("driverName", "parameters") if live is not None else ():
        if live is not None and obj.get(field) != live.get(field):
            yield forbidden(field, f"updates to {field} are forbidden.")
    driver = obj.get("driverName") or ""
    if not driver:
        yield required("driverName")
    else:
        lowered = driver.lower()
        yield from invalid_each("driverName", lowered, qualified_name_errors(lowered))
    if not obj.get("parameters"):
        yield required("parameters", "must contain at least one key/value pair")


def validate_claim_spec(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What an update of a claim, or of the template of claims, may not change."""
    if live is not None:
        yield from validate_immutable("spec", obj.get("spec"), live.get("spec"))


def _fixed(driver: JsonObject) -> JsonObject:
    """What of a driver's entry never changes."""
    return {key: value for key, value in driver.items() if key != "allocatable"}


def _driver_name_causes(path: str, name: str) -> Iterator[Cause]:
    if not name:
        yield required(path)
        return
    if len(name) > DRIVER_NAME_LIMIT:
        yield too_long(path, DRIVER_NAME_LIMIT)
    yield from invalid_each(path, name, dns1123_subdomain_errors(name.lower()))


def _node_id_causes(path: str, node_id: str) -> Iterator[Cause]:
    if not node_id:
        yield required(path)
    if len(node_id) > NODE_ID_LIMIT:
        yield invalid(path, node_id, f"must be {NODE_ID_LIMIT} characters or less")


def _topology_causes(path: str, driver: JsonObject) -> Iterator[Cause]:
    known: set[str] = set()
    for key in driver.get("topologyKeys") or ():
        if not key:
            yield required(path)
        if key in known:
            yield duplicate(path, key)
        known.add(key)
        yield from invalid_each(path, key, qualified_name_errors(key))


def validate_csi_driver(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a driver."""
    spec = obj["spec"]
    yield from validate_enum("spec.fsGroupPolicy", spec.get("fsGroupPolicy"), _GROUP_POLICIES)
    yield from _token_causes(spec)
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in _MODES:
            yield not_supported("spec.volumeLifecycleModes", mode, _MODES)
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < SHORTEST_UPDATE:
        path, text = "nodeAllocatableUpdatePeriodSeconds", "must be greater than or equal to"
        yield invalid(f"spec.{path}", period, f"{text} {SHORTEST_UPDATE} seconds")
    secrets = spec.get("serviceAccountTokenInSecrets")
    if secrets is not None and not spec.get("tokenRequests"):
        text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        yield invalid("spec.serviceAccountTokenInSecrets", secrets, text)
    if live is not None:
        before = live["spec"]
        for name, path in (
            ("attachRequired", "attachedRequired"),
            ("volumeLifecycleModes", "volumeLifecycleModes"),
        ):
            yield from validate_immutable(f"spec.{path}", spec.get(name), before.get(name))


def _token_causes(spec: JsonObject) -> Iterator[Cause]:
    audiences: set[str] = set()
    for at, token in enumerate(spec.get("tokenRequests") or ()):
        path, audience = f"spec.tokenRequests[{at}]", token.get("audience") or ""
        if audience in audiences:
            yield duplicate(f"{path}.audience", audience)
            continue
        audiences.add(audience)
        seconds = token.get("expirationSeconds")
        if seconds is not None and seconds < SHORTEST_TOKEN:
            text = "may not specify a duration less than 10 minutes"
            yield invalid(f"{path}.expirationSeconds", seconds, text)
        if seconds is not None and seconds > LONGEST_TOKEN:
            text = "may not specify a duration larger than 2^32 seconds"
            yield invalid(f"{path}.expirationSeconds", seconds, text)


def validate_volume_attachment(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with an attachment."""
    spec, status = obj["spec"], obj.get("status") or {}
    source = spec.get("source") or {}
    yield from _driver_name_causes("spec.attacher", spec.get("attacher") or "")
    yield from _source_causes(source, "spec.source")
    node = spec.get("nodeName") or ""
    yield from invalid_each("spec.nodeName", node, dns1123_subdomain_errors(node))
    notes = status.get("attachmentMetadata") or {}
    if sum(len(key) + len(value) for key, value in notes.items()) > METADATA_LIMIT:
        yield too_long("status.attachmentMetadata", METADATA_LIMIT)
    for name in ("attachError", "detachError"):
        if len((status.get(name) or {}).get("message") or "") > MESSAGE_LIMIT:
            yield too_long(f"status.{name}.message", METADATA_LIMIT)
    if volume := source.get("persistentVolumeName"):
        path = "spec.source.persistentVolumeName"
        yield from invalid_each(path, volume, dns1123_subdomain_errors(volume))
    if live is not None:
        yield from validate_immutable("spec", spec, live["spec"])


def _source_causes(source: JsonObject, path: str) -> Iterator[Cause]:
    inline, volume = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and volume is None:
        yield required(path, _EITHER)
    elif inline is not None and volume is not None:
        yield forbidden(path, _EITHER)
    elif volume == "":
        yield required(
            f"{path}.persistentVolumeName", "must specify non empty persistentVolumeName"
        )


CSI = {
    "csidrivers": validate_csi_driver,
    "csinodes": validate_csi_node,
    "volumeattachments": validate_volume_attachment,
}
