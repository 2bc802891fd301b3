"""SetCRDCondition: conditions of a CustomResourceDefinition, and changes of its status. Pure."""

from __future__ import annotations

from collections.abc import Callable

from quintant.cluster.apiserver.crd import definition
from quintant.cluster.apiserver.crd.names import AcceptedNames
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.types import JsonObject

StatusChange = Callable[[JsonObject, str], JsonObject]
"""From a status and the time to the status it shall be."""

INSTALLING = StatusCondition(
    "Established", False, "Installing", "the initial names have been accepted"
)
WAITING = StatusCondition("Established", False, "NotAccepted", "not all names are accepted")
ESTABLISHED = StatusCondition(
    "Established", True, "InitialNamesAccepted", "the initial names have been accepted"
)
INVALID_BUNDLE = StatusCondition(
    "Established", False, "InvalidCABundle", "The conversion webhook CABundle is invalid"
)
TERMINATING = StatusCondition(
    "Terminating", True, "InstanceDeletionInProgress", "CustomResource deletion is in progress"
)
CLEARED = StatusCondition(
    "Terminating", False, "InstanceDeletionCompleted", "removed all instances"
)
NEVER = StatusCondition("Terminating", False, "NeverEstablished", "resource was never established")


def with_status(mark: StatusChange, now: str, live: JsonObject) -> JsonObject:
    """A definition with another status, sharing everything else but its managers."""
    return {**live, "metadata": dict(live["metadata"]), "status": mark(live["status"], now)}


def with_accepted_names(naming: AcceptedNames, status: JsonObject, now: str) -> JsonObject:
    """The status of a definition that has been given names; served ones stay established."""
    if status.get("acceptedNames") == naming.names and naming.condition.is_exactly_set(status):
        return status
    changed = naming.condition.set({**status, "acceptedNames": naming.names}, now)
    if ESTABLISHED.is_set(changed):
        return changed
    return (INSTALLING if naming.condition.status else WAITING).set(changed, now)


def without_finalizer(condition: StatusCondition, now: str, live: JsonObject) -> JsonObject:
    """The definition without the finalizer that held it for us."""
    metadata = live["metadata"]
    left = [name for name in metadata.get("finalizers", ()) if name != definition.CLEANUP]
    status = condition.set(live["status"], now)
    return {**live, "metadata": {**metadata, "finalizers": left}, "status": status}
