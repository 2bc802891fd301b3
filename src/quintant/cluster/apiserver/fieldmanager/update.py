"""FieldManager, structuredMergeManager: managedFields after an update and after an apply.

Every manager has an entry per operation, subresource and (for updates) version. An update takes
what it changes; an apply takes what its configuration names, gives up what it named before, and is
refused where it would change what somebody else owns, unless forced.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from msgspec.structs import replace

from quintant.cluster.apiserver.fieldmanager.client_side_apply import (
    fields_to_take_over,
    with_last_applied,
)
from quintant.cluster.apiserver.fieldmanager.managers import (
    APPLY,
    UPDATE,
    FieldManager,
    ManagedFields,
    ManagerIdentifier,
    Managers,
    cap_managers,
    decode_managed_fields,
    encode_managed_fields,
    remove_fields,
    without_fields,
)
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.status import apply_conflict
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.structuredmerge.fieldset import FieldSet, Path, shown
from quintant.cluster.apiserver.structuredmerge.schema import TypingError
from quintant.cluster.apiserver.structuredmerge.typed import (
    Comparison,
    compare,
    ensure_named_members,
    field_set_of,
    merge,
    remove,
)
from quintant.core.errors import Cause

BEFORE_APPLY = "before-first-apply"

_UNTRACKED = FieldSet.of(
    ("f:apiVersion",),
    ("f:kind",),
    *(
        ("f:metadata", f"f:{name}")
        for name in (
            *("name", "namespace", "uid", "creationTimestamp", "selfLink", "generation"),
            *("managedFields", "resourceVersion"),
        )
    ),
)

_WRITTEN = frozenset({"apiVersion", "kind", "metadata", "status"})
"""What a write of a status says rightly."""
_METADATA = FieldSet.of(("f:metadata",))


def track_update(
    kind: Kind, live: JsonObject | None, new: JsonObject, author: FieldManager
) -> None:
    """Write the managedFields of an object that was created or updated into its metadata."""
    before = {"metadata": {}, **kind.zero} if live is None else _bare(live)
    managers = _current(live, new, author)
    new["metadata"].pop("managedFields", None)
    if managers is None or _lost_track(kind, before, new, author):
        return
    try:
        changed = compare(before, new, kind.merge_schema).without(_ignored(kind, author))
    except TypingError:
        encode_managed_fields(new, managers)
        return
    if changed:
        managers = _given(managers, changed, author.identifier(UPDATE, kind), author.time)
    encode_managed_fields(new, cap_managers(managers))


def track_apply(
    kind: Kind, live: JsonObject | None, config: JsonObject, author: FieldManager, *, force: bool
) -> JsonObject:
    """The live object with a configuration applied, its managedFields brought up to date.

    TypingError if the configuration does not fit the kind's shape; 409 where others stand against
    it.
    """
    base, managers = _bare(live or {}), _standing(kind, live, author)
    manager = author.identifier(APPLY, kind)
    last = managers.get(manager)
    wanted = field_set_of(config, kind.merge_schema).without(_apart(_endpoint(kind, author)))
    managers[manager] = ManagedFields(wanted, author.time, kind.resource.api_version)
    merged = merge(base, config, kind.merge_schema)
    claimed = wanted.without(_UNTRACKED) - _METADATA
    if last is not None and last.fields == claimed:
        claimed = last.fields  # The set of before: that is written down already.
    else:
        merged = _pruned(kind, merged, managers, last, wanted)
    kept, since = Managers(), author.time
    if live is not None:  # Of what is new, all is new, and nobody else's.
        compared = compare(base, merged, kind.merge_schema)
        others = {key: managed for key, managed in managers.items() if key != manager}
        free = None if force else fields_to_take_over(kind, live, author.manager)
        kept = _spared(others, compared.without(_ignored(kind, author)), free)
        # Claiming what is there already is no change, and a real server gives it no new time.
        # Another order of the same items is one, though no field of anybody's.
        news = compared.without(_UNTRACKED) or merged != base
        since = author.time if news else last.time if last else ""
    own = {manager: replace(managers[manager], fields=claimed, time=since)} if claimed else {}
    merged = with_last_applied(merged, config, author.manager)
    encode_managed_fields(merged, kept | own)
    return merged


def _given(managers: Managers, changed: Comparison, to: ManagerIdentifier, time: str) -> Managers:
    """The managers after one of them changed something: what it changed is its own alone."""
    own = managers.get(to)
    if own is not None and _keeps_owners(managers, own, changed):
        return {**managers, to: replace(own, time=time)}
    taken = changed.added | changed.modified
    managers = remove_fields(managers, taken | changed.removed)
    fields = managers[to].fields | taken if to in managers else taken
    return {**managers, to: ManagedFields(fields, time, to.api_version)} if fields else managers


def _keeps_owners(managers: Managers, own: ManagedFields, changed: Comparison) -> bool:
    """Whether a change is of fields that its author owns alone already, as most are."""
    if changed.added or changed.removed or not own.fields.covers(changed.modified):
        return False
    others = (managed for managed in managers.values() if managed is not own)
    return all(each.fields and not each.fields.overlaps(changed.modified) for each in others)


def _lost_track(
    kind: Kind, before: Mapping[str, Any], new: JsonObject, author: FieldManager
) -> bool:
    """Whether a status comes with something that does not fit: a real server owns nothing then."""
    if author.subresource != "status" or not kind.custom:
        return False
    apart = {name: new[name] for name in new if name not in _WRITTEN}
    strange = {name: value for name, value in apart.items() if before.get(name) != value}
    try:
        field_set_of(strange, kind.merge_schema)
    except TypingError:
        return True
    return False


def _ignored(kind: Kind, author: FieldManager) -> FieldSet:
    """What a write through this endpoint never owns."""
    return _nobodys(_endpoint(kind, author))


class _Endpoint(NamedTuple):
    """What of an endpoint makes a difference to ownership."""

    subresource: str
    metadata: bool
    """A write of the status may change metadata."""
    status: bool
    """The kind has a status."""
    holds: frozenset[str]
    """The metadata that a write of the status may not change."""
    resets: tuple[Path, ...] | None
    """What it leaves as it is, by the word of the kind."""


def _endpoint(kind: Kind, author: FieldManager) -> _Endpoint:
    update = kind.strategy.update
    return _Endpoint(
        author.subresource,
        update.status_updates_metadata,
        kind.resource.status,
        update.status_resets,
        update.reset_fields.get(author.subresource),
    )


# Both sets are asked for at every write, and made once.
@cache
def _nobodys(endpoint: _Endpoint) -> FieldSet:
    return _UNTRACKED | _apart(endpoint)


@cache
def _apart(endpoint: _Endpoint) -> FieldSet:
    """What a write through an endpoint leaves as it is."""
    if endpoint.resets is not None:
        return FieldSet.of(*endpoint.resets)
    paths: list[Path] = []
    if endpoint.subresource == "status":
        paths = [("f:spec",), *([] if endpoint.metadata else [("f:metadata",)])]
        paths += [("f:metadata", f"f:{name}") for name in sorted(endpoint.holds)]
    elif endpoint.status:
        paths = [("f:status",)]
    return FieldSet.of(*paths)


def _current(live: JsonObject | None, new: JsonObject, author: FieldManager) -> Managers | None:
    """The managers to start from; None when the object is not tracked.

    A client may rewrite managedFields: an empty list, or one empty entry, ends the tracking.
    """
    if live is None:
        return {}
    before = live["metadata"].get("managedFields")
    sent = new["metadata"].get("managedFields", None)
    if author.subresource or sent is None:
        return decode_managed_fields(before) or None
    if sent in ([], [{}]):
        return None
    return decode_managed_fields(sent) or decode_managed_fields(before) or None


def _standing(kind: Kind, live: JsonObject | None, author: FieldManager) -> Managers:
    """The managers that an apply finds; of an object that nobody tracked, the one of before."""
    if live is None:
        return {}
    return decode_managed_fields(live["metadata"].get("managedFields")) or _before_apply(
        kind, live, author
    )


def _before_apply(kind: Kind, live: JsonObject, author: FieldManager) -> Managers:
    empty = {"metadata": {}, **kind.zero}
    changed = compare(empty, _bare(live), kind.merge_schema).without(_ignored(kind, author))
    existing = changed.added | changed.modified
    version = kind.resource.api_version
    manager = ManagerIdentifier(UPDATE, BEFORE_APPLY, version, author.subresource)
    return {manager: ManagedFields(existing, author.time, version)} if existing else {}


def _pruned(
    kind: Kind,
    merged: JsonObject,
    managers: Managers,
    last: ManagedFields | None,
    wanted: FieldSet,
) -> JsonObject:
    """Without what the applier named before and nobody names now."""
    if last is None or wanted.covers(last.fields):
        return merged
    owned = FieldSet()
    for managed in managers.values():
        owned = owned | managed.fields
    schema = kind.merge_schema
    gone = ensure_named_members(last.fields, schema) - ensure_named_members(owned, schema)
    pruned: JsonObject = remove(merged, gone, schema)
    return pruned


def _spared(others: Managers, changed: Comparison, free: FieldSet | None) -> Managers:
    """What others still claim after a change; 409 if it takes more than is free to be taken.

    Without a word of what is free, everything is.
    """
    wrested = _lost(others, changed.added | changed.modified)
    if free is not None:
        _defend(wrested, free)
    left = {key: without_fields(others[key], wrested.get(key)) for key in others}
    return remove_fields(
        {key: managed for key, managed in left.items() if managed.fields}, changed.removed
    )


def _lost(others: Managers, changed: FieldSet) -> dict[ManagerIdentifier, FieldSet]:
    """What a change takes from whom."""
    return {
        manager: common
        for manager, managed in others.items()
        if managed.fields.overlaps(changed) and (common := managed.fields & changed)
    }


def _defend(wrested: Mapping[ManagerIdentifier, FieldSet], free: FieldSet) -> None:
    """409 for what is taken from others and is not free to be taken."""
    conflicts = [(manager, path) for manager in sorted(wrested) for path in wrested[manager] - free]
    if conflicts:
        causes = [
            Cause("FieldManagerConflict", f"conflict with {manager}", shown(path))
            for manager, path in conflicts
        ]
        raise apply_conflict(_conflict_text(conflicts), causes)


def _conflict_text(conflicts: list[tuple[ManagerIdentifier, Path]]) -> str:
    if len(conflicts) == 1:
        manager, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {manager}: {shown(path)}"
    by_manager: dict[ManagerIdentifier, list[str]] = {}
    for manager, path in conflicts:
        by_manager.setdefault(manager, []).append(f"- {shown(path)}")
    lines = [
        line
        for manager, paths in by_manager.items()
        for line in (f"conflicts with {manager}:", *paths)
    ]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def _bare(obj: Mapping[str, Any]) -> JsonObject:
    """The object without its managedFields."""
    if "managedFields" not in obj.get("metadata", {}):
        return dict(obj)
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}
