"""Claims: who owns which fields of an object, as its managedFields say and shall say.

Every writer has an entry per operation, subresource and (for updates) version. Claims are values:
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


class ManagerIdentifier(Struct, frozen=True, order=True):
    """Whose entry it is."""

    operation: str
    manager: str
    api_version: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        where = f' with subresource "{self.subresource}"' if self.subresource else ""
        using = f" using {self.api_version}" if self.operation == UPDATE else ""
        return f'"{self.manager}"{where}{using}'


class ManagedFields(Struct, frozen=True):
    """What a writer owns, since when, and at which version it was written."""

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


def remove_fields(claims: Managers, gone: FieldSet) -> Managers:
    """The claims without some fields; empty ones vanish."""
    if not gone:
        return claims
    kept = {writer: without_fields(claim, gone) for writer, claim in claims.items()}
    return {writer: claim for writer, claim in kept.items() if claim.fields}


def without_fields(claim: ManagedFields, gone: FieldSet | None) -> ManagedFields:
    return claim if gone is None else replace(claim, fields=claim.fields - gone)


def cap_managers(claims: Managers) -> Managers:
    """Fold the oldest updaters together while there are too many."""
    updaters = sorted(
        (writer for writer in claims if writer.operation == UPDATE),
        key=lambda writer: (claims[writer].time, writer),
    )
    excess = updaters[: max(0, len(updaters) - MAX_UPDATERS)]
    for writer in excess and updaters[: len(excess) + 1]:
        claim = claims.pop(writer)
        bucket = ManagerIdentifier(UPDATE, ANCIENT, writer.api_version)
        before = claims.get(bucket)
        fields = claim.fields if before is None else before.fields | claim.fields
        claims[bucket] = replace(claim, fields=fields)
    return claims


def decode_managed_fields(entries: Any) -> Managers:
    """The claims that managedFields record."""
    claims: Managers = {}
    for entry in entries or ():
        if entry.get("fieldsType") != "FieldsV1":
            continue
        operation, version = entry.get("operation", UPDATE), entry.get("apiVersion", "")
        writer = ManagerIdentifier(
            operation,
            entry.get("manager", ""),
            version if operation == UPDATE else "",
            entry.get("subresource", ""),
        )
        fields = FieldSet.decode(entry.get("fieldsV1") or {})
        claims[writer] = ManagedFields(fields, entry.get("time", ""), version)
    return claims


def check_managers(entries: Any) -> None:
    """ValueError if a list of managers cannot be read."""
    for entry in entries or ():
        if entry.get("operation") not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        if entry.get("fieldsType") != "FieldsV1":
            raise ValueError("fieldsType must be `FieldsV1`")
    decode_managed_fields(entries)


def encode_managed_fields(obj: JsonObject, claims: Managers) -> None:
    """Write claims into an object's metadata, which is a new one afterwards."""
    metadata = obj["metadata"] = dict(obj.get("metadata") or {})
    metadata.pop("managedFields", None)
    if claims:
        ordered = sorted(claims.items(), key=_order)
        metadata["managedFields"] = [_encode(writer, claim) for writer, claim in ordered]


def _order(item: tuple[ManagerIdentifier, ManagedFields]) -> tuple[str, ...]:
    writer, claim = item
    return writer.operation, claim.time, writer.manager, claim.api_version, writer.subresource


def _encode(writer: ManagerIdentifier, claim: ManagedFields) -> JsonObject:
    entry: JsonObject = {
        "manager": writer.manager,
        "operation": writer.operation,
        "apiVersion": claim.api_version,
    }
    if claim.time:
        entry["time"] = claim.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = claim.fields.encode()
    if writer.subresource:
        entry["subresource"] = writer.subresource
    return entry
