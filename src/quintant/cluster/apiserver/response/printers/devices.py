"""printResourceClaim, printCSIStorageCapacity: devices for pods, and what drivers tell."""

from __future__ import annotations

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers import (
    AGE,
    NAME,
    Printer,
    column,
    part,
    spec,
)


def _state(claim: JsonObject) -> str:
    """What became of a claim."""
    status = claim.get("status") or {}
    gone = "deletionTimestamp" in claim["metadata"]
    states = ["deleted"] if gone else []
    if status.get("allocation"):
        states += ["allocated", *(["reserved"] if status.get("reservedFor") else [])]
    elif not gone:
        states.append("pending")
    return ",".join(states)


NAMED = Printer((NAME, AGE))
RESOURCE_CLAIM = Printer((NAME, column("State", _state), AGE))
RESOURCE_SLICE = Printer(
    (
        NAME,
        column("Node", lambda each: spec(each).get("nodeName") or ""),
        column("Driver", lambda each: spec(each).get("driver", "")),
        column("Pool", lambda each: part(each, "spec", "pool").get("name", "")),
        AGE,
    )
)
VOLUME_ATTRIBUTES_CLASS = Printer(
    (NAME, column("DriverName", lambda each: each.get("driverName", "")), AGE)
)
CSI_STORAGE_CAPACITY = Printer(
    (
        NAME,
        column("StorageClassName", lambda each: each.get("storageClassName", "")),
        column("Capacity", lambda each: each.get("capacity") or "<unset>"),
    )
)
