"""managedFields: who owns which fields, after an update and after an apply.

Every writer has an entry per operation, subresource and (for updates) version. An update takes what
it changes; an apply takes what its configuration names, gives up what it named before, and is
refused where it would change what somebody else owns, unless forced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from quintant.cluster.catalog import Kind, Plain
from quintant.cluster.fields import FieldSet, Path, shown
from quintant.cluster.lastapplied import inherited
from quintant.cluster.merging import Untypable, compare, fields_of, merge, named, remove
from quintant.cluster.problems import contested
from quintant.runtime.errors import Cause

MAX_UPDATERS = 10
"""Managers with Update entries before the oldest are folded into one: a bound on an object."""
ANCIENT = "ancient-changes"
BEFORE_APPLY = "before-first-apply"
UNKNOWN = "unknown"
APPLY = "Apply"
UPDATE = "Update"

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


@dataclass(frozen=True, slots=True, order=True)
class Writer:
    """Whose entry it is."""

    operation: str
    manager: str
    api_version: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        where = f' with subresource "{self.subresource}"' if self.subresource else ""
        using = f" using {self.api_version}" if self.operation == UPDATE else ""
        return f'"{self.manager}"{where}{using}'


@dataclass(frozen=True, slots=True)
class Claim:
    """What a writer owns, since when, and at which version it was written."""

    fields: FieldSet
    time: str
    api_version: str


Claims = dict[Writer, Claim]


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, where and when."""

    manager: str
    time: str
    subresource: str = ""

    def writer(self, operation: str, kind: Kind) -> Writer:
        version = kind.resource.api_version if operation == UPDATE else ""
        return Writer(operation, self.manager or UNKNOWN, version, self.subresource)


def track_update(kind: Kind, live: Plain | None, new: Plain, author: Author) -> None:
    """Write the managedFields of an object that was created or updated into its metadata."""
    before = {"metadata": {}, **kind.zero} if live is None else live
    claims = _current(live, new, author)
    new["metadata"].pop("managedFields", None)
    if claims is None:
        return
    try:
        changed = compare(before, new, kind.shape).without(_ignored(kind, author))
    except Untypable:
        _store(new, claims)
        return
    if changed:
        taken = changed.added | changed.modified
        claims = _less(claims, taken | changed.removed)
        writer = author.writer(UPDATE, kind)
        own = claims[writer].fields | taken if writer in claims else taken
        if own:
            claims[writer] = Claim(own, author.time, kind.resource.api_version)
    _store(new, _capped(claims))


def track_apply(
    kind: Kind, live: Plain | None, config: Plain, author: Author, *, force: bool
) -> Plain:
    """The live object with a configuration applied, its managedFields brought up to date.

    Untypable if the configuration does not fit the kind's shape; 409 where others stand against it.
    """
    base: Plain = {} if live is None else live
    claims = _decode(base.get("metadata", {}).get("managedFields"))
    if live is not None and not claims:
        claims = _before_apply(kind, live, author)
    writer = author.writer(APPLY, kind)
    last = claims.get(writer)
    ignored = _ignored(kind, author)
    wanted = fields_of(config, kind.shape).without(ignored)
    merged = merge(_bare(base), config, kind.shape)
    claims[writer] = Claim(wanted, author.time, kind.resource.api_version)
    merged = _pruned(kind, merged, claims, last)
    changed = compare(_bare(base), merged, kind.shape).without(ignored)
    others = {key: claim for key, claim in claims.items() if key != writer}
    wrested = _lost(others, changed.added | changed.modified)
    if not force:
        _defend(wrested, inherited(kind, live, author.manager))
    kept = _less({key: _minus(others[key], wrested.get(key)) for key in others}, changed.removed)
    # Claiming what is there already is no change, and a real server gives it no new time.
    since = author.time if changed else last.time if last else ""
    own = {writer: replace(claims[writer], time=since)} if wanted else {}
    _store(merged, kept | own)
    return merged


def check_managers(entries: Any) -> None:
    """ValueError if a list of managers cannot be read."""
    for entry in entries or ():
        if entry.get("operation") not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        if entry.get("fieldsType") != "FieldsV1":
            raise ValueError("fieldsType must be `FieldsV1`")
    _decode(entries)


def _ignored(kind: Kind, author: Author) -> FieldSet:
    """What a write through this endpoint never owns."""
    return _reset(author.subresource, kind.status_metadata, kind.resource.status)


@cache
def _reset(subresource: str, metadata: bool, status: bool) -> FieldSet:
    """The sets that are asked for at every write, made once."""
    if subresource == "status":
        names: tuple[str, ...] = ("f:spec",) if metadata else ("f:spec", "f:metadata")
    else:
        names = ("f:status",) if status else ()
    return _UNTRACKED | FieldSet.of(*((name,) for name in names))


def _current(live: Plain | None, new: Plain, author: Author) -> Claims | None:
    """The claims to start from; None when the object is not tracked.

    A client may rewrite managedFields: an empty list, or one empty entry, ends the tracking.
    """
    if live is None:
        return {}
    before = live["metadata"].get("managedFields")
    sent = new["metadata"].get("managedFields", None)
    if author.subresource or sent is None:
        return _decode(before) or None
    if sent in ([], [{}]):
        return None
    return _decode(sent) or _decode(before) or None


def _before_apply(kind: Kind, live: Plain, author: Author) -> Claims:
    existing = compare({"metadata": {}}, _bare(live), kind.shape).without(_UNTRACKED).added
    version = kind.resource.api_version
    writer = Writer(UPDATE, BEFORE_APPLY, version)
    return {writer: Claim(existing, author.time, version)} if existing else {}


def _pruned(kind: Kind, merged: Plain, claims: Claims, last: Claim | None) -> Plain:
    """Without what the applier named before and nobody names now."""
    if last is None:
        return merged
    owned = FieldSet()
    for claim in claims.values():
        owned = owned | claim.fields
    gone = named(last.fields, kind.shape) - named(owned, kind.shape)
    pruned: Plain = remove(merged, gone, kind.shape)
    return pruned


def _lost(others: Claims, changed: FieldSet) -> dict[Writer, FieldSet]:
    """What a change takes from whom."""
    return {
        writer: common for writer, claim in others.items() if (common := claim.fields & changed)
    }


def _defend(wrested: Mapping[Writer, FieldSet], free: FieldSet) -> None:
    """409 for what is taken from others and is not free to be taken."""
    conflicts = [(writer, path) for writer in sorted(wrested) for path in wrested[writer] - free]
    if conflicts:
        causes = [
            Cause("FieldManagerConflict", f"conflict with {writer}", shown(path))
            for writer, path in conflicts
        ]
        raise contested(_conflict_text(conflicts), causes)


def _conflict_text(conflicts: list[tuple[Writer, Path]]) -> str:
    if len(conflicts) == 1:
        writer, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {writer}: {shown(path)}"
    by_writer: dict[Writer, list[str]] = {}
    for writer, path in conflicts:
        by_writer.setdefault(writer, []).append(f"- {shown(path)}")
    lines = [
        line
        for writer, paths in by_writer.items()
        for line in (f"conflicts with {writer}:", *paths)
    ]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def _less(claims: Claims, gone: FieldSet) -> Claims:
    """The claims without some fields; empty ones vanish."""
    if not gone:
        return claims
    kept = {writer: _minus(claim, gone) for writer, claim in claims.items()}
    return {writer: claim for writer, claim in kept.items() if claim.fields}


def _minus(claim: Claim, gone: FieldSet | None) -> Claim:
    return claim if gone is None else replace(claim, fields=claim.fields - gone)


def _capped(claims: Claims) -> Claims:
    """Fold the oldest updaters together while there are too many."""
    updaters = sorted(
        (writer for writer in claims if writer.operation == UPDATE),
        key=lambda writer: (claims[writer].time, writer),
    )
    excess = updaters[: max(0, len(updaters) - MAX_UPDATERS)]
    for writer in excess and updaters[: len(excess) + 1]:
        claim = claims.pop(writer)
        bucket = Writer(UPDATE, ANCIENT, writer.api_version)
        before = claims.get(bucket)
        fields = claim.fields if before is None else before.fields | claim.fields
        claims[bucket] = replace(claim, fields=fields)
    return claims


def _decode(entries: Any) -> Claims:
    claims: Claims = {}
    for entry in entries or ():
        if entry.get("fieldsType") != "FieldsV1":
            continue
        operation, version = entry.get("operation", UPDATE), entry.get("apiVersion", "")
        writer = Writer(
            operation,
            entry.get("manager", ""),
            version if operation == UPDATE else "",
            entry.get("subresource", ""),
        )
        fields = FieldSet.decode(entry.get("fieldsV1") or {})
        claims[writer] = Claim(fields, entry.get("time", ""), version)
    return claims


def _store(obj: Plain, claims: Claims) -> None:
    metadata = obj["metadata"] = dict(obj["metadata"])
    metadata.pop("managedFields", None)
    if claims:
        ordered = sorted(claims.items(), key=_order)
        metadata["managedFields"] = [_encode(writer, claim) for writer, claim in ordered]


def _order(item: tuple[Writer, Claim]) -> tuple[str, ...]:
    writer, claim = item
    return writer.operation, claim.time, writer.manager, claim.api_version, writer.subresource


def _encode(writer: Writer, claim: Claim) -> Plain:
    entry: Plain = {
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


def _bare(obj: Mapping[str, Any]) -> Plain:
    """The object without its managedFields."""
    if "managedFields" not in obj.get("metadata", {}):
        return dict(obj)
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}
