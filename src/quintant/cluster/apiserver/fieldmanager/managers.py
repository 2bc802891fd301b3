"""managedFields, buildManagerInfo, capManagersManager: the field managers of an object.

Every manager has an entry per operation, subresource and (for updates) version. Entries are values:
functions that change them return others.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.structuredmerge.fieldset import FieldSet

MAX_UPDATERS = 10
"""Managers with Update entries before the oldest are folded into one: a bound on an object."""
ANCIENT = "ancient-changes"
UNKNOWN = "unknown"
APPLY = "Apply"
UPDATE = "Update"
_IDENTITY = ("manager", "operation", "subresource", "apiVersion")
"""What tells entries of managedFields apart."""


class ManagerIdentifier(Struct, frozen=True, order=True):
    """Whose entry it is."""

    operation: str
    manager: str
    api_version: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        suffix = f' with subresource "{self.subresource}"' if self.subresource else ""
        using = f" using {self.api_version}" if self.operation == UPDATE else ""
        return f'"{self.manager}"{suffix}{using}'


class ManagedFields(Struct, frozen=True):
    """What a manager owns, since when, and at which version it was written."""

    fields: FieldSet
    time: str
    api_version: str


Managers = dict[ManagerIdentifier, ManagedFields]


class FieldManager(Struct, frozen=True):
    """Who writes, where and when."""

    manager: str
    time: str
    subresource: str = ""

    def identifier(self, operation: str, kind: Kind) -> ManagerIdentifier:
        version = kind.resource.api_version if operation == UPDATE else ""
        return ManagerIdentifier(operation, self.manager or UNKNOWN, version, self.subresource)


def remove_fields(managers: Managers, gone: FieldSet) -> Managers:
    """The managers without some fields; empty ones vanish."""
    if not gone:
        return managers
    kept = {manager: without_fields(managed, gone) for manager, managed in managers.items()}
    return {manager: managed for manager, managed in kept.items() if managed.fields}


def without_fields(managed: ManagedFields, gone: FieldSet | None) -> ManagedFields:
    return managed if gone is None else replace(managed, fields=managed.fields - gone)


def cap_managers(managers: Managers) -> Managers:
    """Fold the oldest updaters together while there are too many."""
    if len(managers) <= MAX_UPDATERS:
        return managers
    updaters = sorted(
        (manager for manager in managers if manager.operation == UPDATE),
        key=lambda manager: (managers[manager].time, manager),
    )
    excess = updaters[: max(0, len(updaters) - MAX_UPDATERS)]
    for manager in excess and updaters[: len(excess) + 1]:
        managed = managers.pop(manager)
        bucket = ManagerIdentifier(UPDATE, ANCIENT, manager.api_version)
        before = managers.get(bucket)
        fields = managed.fields if before is None else before.fields | managed.fields
        managers[bucket] = replace(managed, fields=fields)
    return managers


def decode_managed_fields(entries: Any) -> Managers:
    """The managers that managedFields record."""
    managers: Managers = {}
    for entry in entries or ():
        if entry.get("fieldsType") != "FieldsV1":
            continue
        operation, version = entry.get("operation", UPDATE), entry.get("apiVersion", "")
        manager = ManagerIdentifier(
            operation,
            entry.get("manager", ""),
            version if operation == UPDATE else "",
            entry.get("subresource", ""),
        )
        fields = FieldSet.decode(entry.get("fieldsV1") or {})
        managers[manager] = ManagedFields(fields, entry.get("time", ""), version)
    return managers


def check_managers(entries: Any) -> None:
    """ValueError if a list of managers cannot be read."""
    for entry in entries or ():
        if entry.get("operation") not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        if entry.get("fieldsType") != "FieldsV1":
            raise ValueError("fieldsType must be `FieldsV1`")
    decode_managed_fields(entries)


def encode_managed_fields(obj: JsonObject, managers: Managers) -> None:
    """Write managers into an object's metadata, which is a new one afterwards."""
    metadata = obj["metadata"] = dict(obj.get("metadata") or {})
    metadata.pop("managedFields", None)
    if managers:
        ordered = sorted(managers.items(), key=_order)
        metadata["managedFields"] = [_encode(manager, managed) for manager, managed in ordered]


def keep_times(obj: JsonObject, live: JsonObject) -> None:
    """Give an object that differs from the live one in times of owners alone its times, in place.

    What defaults, admission or Go's way to leave things out undid looked like news to whoever
    tracked it, and was none: a write of it is no write.
    """
    before, after = live["metadata"].get("managedFields"), obj["metadata"].get("managedFields")
    if before == after or not before or not after or len(before) != len(after):
        return
    if _unowned(obj) == _unowned(live) and _untimed(after) == _untimed(before):
        obj["metadata"]["managedFields"] = before


def _unowned(obj: JsonObject) -> JsonObject:
    return {**obj, "metadata": {**obj["metadata"], "managedFields": None}}


def _untimed(entries: list[JsonObject]) -> list[JsonObject]:
    """Who owns which fields, without when; in one order, for that depends on times."""
    return sorted(
        ({**entry, "time": ""} for entry in entries),
        key=lambda entry: tuple(str(entry.get(name)) for name in _IDENTITY),
    )


def _order(item: tuple[ManagerIdentifier, ManagedFields]) -> tuple[str, ...]:
    manager, managed = item
    return (
        manager.operation,
        managed.time,
        manager.manager,
        managed.api_version,
        manager.subresource,
    )


def _encode(manager: ManagerIdentifier, managed: ManagedFields) -> JsonObject:
    entry: JsonObject = {
        "manager": manager.manager,
        "operation": manager.operation,
        "apiVersion": managed.api_version,
    }
    if managed.time:
        entry["time"] = managed.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = managed.fields.encode()
    if manager.subresource:
        entry["subresource"] = manager.subresource
    return entry
