"""Drafts: what an object shall be after a write, decided without touching the store.

From what a client sent and the live object, in the order of a real server: decode, default, track
field ownership; then, after admission has had its say, `finish`: hold what may not change, count
the generation. What remains for the write path (quintant.cluster.writes) is to name, validate and
store the draft.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from quintant.cluster import wire
from quintant.cluster.catalog import Edit, Kind, Plain
from quintant.cluster.claims import Author
from quintant.cluster.fitting import Mistyped, fit
from quintant.cluster.golang import encoded, quoted
from quintant.cluster.identity import check_kind, check_patched, check_sent
from quintant.cluster.managed import check_managers, track_apply, track_update
from quintant.cluster.merging import Untypable
from quintant.cluster.objects import (
    check_immutable,
    check_revision,
    content,
    identified,
    keep,
    placed,
    unknown_metadata,
    wipe,
)
from quintant.cluster.problems import (
    bad_request,
    conflict,
    modified,
    not_found,
    unexplained,
    unlocked,
    unpatchable,
)
from quintant.cluster.ring import Entry
from quintant.cluster.scale import DOCUMENT, SCALE, applied_scale, track_scale

_MISMANAGED = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an "
    "outdated mutating admission controller; please fix your requests"
)
_KEPT_AS = {
    "services": "services/specs",
    "endpoints": "services/endpoints",
    "nodes": "minions",
}
"""Where a real server keeps what it does not keep by its plural; it says so."""
_BESIDE_STATUS = ("", SCALE)
"""The endpoints that leave the status alone."""


class Strictness(Enum):
    """What becomes of fields the server does not know."""

    STRICT = "Strict"
    WARN = "Warn"
    IGNORE = "Ignore"


@dataclass(frozen=True, slots=True)
class Scrutiny:
    """How closely a document is read, and which of its fields came more than once."""

    strictness: Strictness = Strictness.WARN
    duplicates: tuple[str, ...] = ()
    converted: bool = False
    """It is the result of a strategic patch, which is not decoded again."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about: a kind, a place in it, the whole object or a subresource."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    sub: str = ""

    @property
    def key(self) -> str:
        return self.kind.key(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Draft:
    """An object as it shall be; without a `base` it is a new one."""

    target: Target
    obj: Plain
    warnings: tuple[str, ...] = ()
    base: Entry | None = None
    live: Plain | None = None
    patched: bool = False
    said: str = ""
    """The kind that a client said a custom resource is of."""
    looked: int | None = None
    """The revision at which other objects of the kind were looked at for it, if they were."""

    @property
    def label(self) -> str:
        """What a refusal calls its object: by its name, or by what one will be made from."""
        metadata = self.obj["metadata"]
        name: str = metadata.get("name") or metadata.get("generateName") or "Unknown"
        return name


def created(target: Target, sent: Any, author: Author, scrutiny: Scrutiny) -> Draft:
    """A new object."""
    draft = read(target, sent, scrutiny)
    if draft.obj["metadata"].get("resourceVersion"):
        raise unexplained("resourceVersion should not be set on objects to be created")
    return _new(draft, author)


def put(draft: Draft, author: Author) -> Draft:
    """A new object, where an update found none; it may say a revision, and no uid."""
    metadata = draft.obj["metadata"]
    check_revision(metadata.pop("resourceVersion", None))
    _check_uid(draft.target, metadata.get("uid"), "")
    return _new(draft, author)


def _new(draft: Draft, author: Author) -> Draft:
    kind, obj = draft.target.kind, draft.obj
    check_kind(kind, draft.said, obj["metadata"].get("name", ""))
    wipe(obj)
    _default(kind, obj)
    track_update(kind, None, obj, author)
    return draft


def read(target: Target, sent: Any, scrutiny: Scrutiny) -> Draft:
    """What was sent, as an object of its kind in its place."""
    obj = _sent(target.kind, sent)
    return Draft(target, obj, _decoded(target, obj, scrutiny), said=sent.get("kind") or "")


def replaced(draft: Draft, base: Entry, author: Author) -> Draft:
    """An object that was read, in the place of the live one."""
    target, obj = draft.target, draft.obj
    live = wire.unpack(target.kind, base)
    _check_replacement(target, obj, live)
    check_kind(target.kind, draft.said, target.name)
    return _updated(target, base, obj, live, author, draft.warnings)


def edited(target: Target, base: Entry, edit: Edit, author: Author, scrutiny: Scrutiny) -> Draft:
    """The live object after a patch."""
    live = wire.unpack(target.kind, base)
    changed = edit(wire.unpack(target.kind, base))
    if isinstance(changed, dict):
        check_patched(target.kind, changed, converted=scrutiny.converted)
    obj = identified(target.kind, changed)
    warnings = _decoded(target, obj, scrutiny, patch=True)
    draft = _updated(target, base, obj, live, author, warnings)
    return replace(draft, patched=True)


def applied(
    target: Target, base: Entry | None, config: Any, author: Author, *, force: bool
) -> Draft:
    """The live object with a configuration applied, or a new object made from it."""
    if base is None and target.sub:
        raise not_found(target.kind.resource, target.name)
    sent = _configured(target, config)
    try:
        if base is None:
            draft = _applied_new(target, sent, author)
        else:
            draft = _applied_over(target, base, sent, author, force=force)
        return replace(draft, patched=True)
    except Untypable as error:
        text = f"failed to create typed patch object ({_titled(target.kind, config)}): {error}"
        raise unexplained(text) from None
    except Mistyped as error:
        raise unexplained(_unconverted(target.kind, config, error)) from None


def revised(draft: Draft, sent: Any) -> Draft:
    """The draft after a webhook made something else of its object; Mistyped if that is none."""
    kind = draft.target.kind
    obj = _sent(kind, sent)
    _unknown(kind, obj)
    placed(kind, obj, draft.target.namespace)
    _default(kind, obj)
    return replace(draft, obj=obj)


def remanage(obj: Plain, before: Plain) -> tuple[str, ...]:
    """Undo, in place, what webhooks did to the managers of an object if it makes no sense.

    Nobody owns what webhooks changed. What is told to who asked for the change.
    """
    metadata, sent = obj["metadata"], obj["metadata"].get("managedFields")
    if sent in ([], [{}]):
        del metadata["managedFields"]
        return ()
    try:
        check_managers(sent)
    except ValueError as error:
        obj["metadata"] = _managed(metadata, before["metadata"])
        return (f"{_MISMANAGED}: {error}",)
    return ()


def finish(draft: Draft) -> None:
    """Make the draft's object what will be stored, but for its name, in place.

    409 if it was made for another state of the live object.
    """
    if draft.live is None:
        _begin(draft.target.kind, draft.obj)
    else:
        _restrain(draft.target, draft.obj, draft.live)


def count(kind: Kind, obj: Plain, live: Plain) -> None:
    """Raise the generation of an object that says something else than the live one, in place."""
    if kind.generation and content(kind, obj) != content(kind, live):
        obj["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1


def _decoded(
    target: Target, obj: Plain, scrutiny: Scrutiny, *, patch: bool = False
) -> tuple[str, ...]:
    """Drop unknown fields, in place, warn about what is amiss or refuse it; check the place."""
    kind, strict = target.kind, scrutiny.strictness is Strictness.STRICT
    sent = encoded(obj) if patch and strict else ""
    try:
        unknown = [("unknown", path) for path in _unknown(kind, obj)]
    except Mistyped as error:
        why = error.converted if scrutiny.converted else str(error)
        raise _unfit(kind, why, sent or encoded(obj), patch=patch) from None
    again = [("duplicate", path) for path in scrutiny.duplicates]
    found = again + unknown if kind.custom else unknown + again
    complaints = tuple(f"{what} field {quoted(path)}" for what, path in found)
    if complaints and strict:
        text = f"strict decoding error: {', '.join(complaints)}"
        raise _unfit(kind, text, sent, patch=patch)
    placed(kind, obj, target.namespace, target.name)
    return complaints if scrutiny.strictness is Strictness.WARN else ()


def _sent(kind: Kind, sent: Any) -> Plain:
    """What a client sent, as an object of the kind; 400 or 422 if it is not one."""
    if isinstance(sent, dict):
        check_sent(kind, sent)
    return identified(kind, sent)


def _unknown(kind: Kind, obj: Plain) -> list[str]:
    """The paths of fields the kind does not have, which are dropped, in place."""
    if kind.message is not None:
        return fit(kind.message, obj)
    unknown = unknown_metadata(obj)
    return unknown + (kind.prune(obj) if kind.prune is not None else [])


def _unfit(kind: Kind, why: str, sent: str, *, patch: bool) -> Exception:
    if patch:
        return unpatchable(sent, why)
    where = kind.resource
    return bad_request(
        f'{where.kind} in version "{where.version}" cannot be handled as a {where.kind}: {why}'
    )


def _default(kind: Kind, obj: Plain) -> None:
    if kind.default is not None:
        kind.default(obj)


def _begin(kind: Kind, obj: Plain) -> None:
    """Make what was sent the beginning of an object, in place."""
    if kind.resource.status and not kind.keeps_status:
        obj.pop("status", None)
        obj |= {} if kind.message is None else {"status": kind.message.zero()["status"]}
    if kind.generation:
        obj["metadata"]["generation"] = 1
    if kind.complete is not None:
        kind.complete(obj)


def _updated(
    target: Target,
    base: Entry,
    obj: Plain,
    live: Plain,
    author: Author,
    warnings: tuple[str, ...],
) -> Draft:
    _default(target.kind, obj)
    track = track_scale if target.sub == SCALE else track_update
    track(target.kind, live, obj, author)
    return Draft(target, obj, warnings, base, live)


def _restrain(target: Target, obj: Plain, live: Plain) -> None:
    """Hold what an update may not change, in place; 409 if it was made for another state."""
    kind = target.kind
    locked = obj["metadata"].get("resourceVersion")
    check_revision(locked)
    if locked and locked != live["metadata"]["resourceVersion"]:
        raise modified(kind.resource, target.name)
    check_immutable(kind, obj, live)
    if target.sub == "status":
        _only_status(kind, obj, live)
    elif kind.resource.status and target.sub in _BESIDE_STATUS:
        _without_status(obj, live)
    keep(obj, live)
    if kind.revise is not None and not target.sub:
        kind.revise(obj, live)


def _only_status(kind: Kind, obj: Plain, live: Plain) -> None:
    """Make the draft differ from the live object in its status alone, in place."""
    status, metadata = obj.get("status"), obj["metadata"]
    obj.clear()
    obj |= live
    obj["metadata"] = metadata if kind.status_metadata else _managed(live["metadata"], metadata)
    for name in kind.status_holds:
        metadata.pop(name, None)
        metadata |= {name: live["metadata"][name]} if name in live["metadata"] else {}
    if status is None:
        obj.pop("status", None)
    else:
        obj["status"] = status


def _managed(metadata: Plain, source: Plain) -> Plain:
    """Metadata with the managers of other metadata."""
    kept = {key: value for key, value in metadata.items() if key != "managedFields"}
    found = source.get("managedFields")
    return {**kept, "managedFields": found} if found else kept


def _without_status(obj: Plain, live: Plain) -> None:
    if "status" in live:
        obj["status"] = live["status"]
    else:
        obj.pop("status", None)


def _check_replacement(target: Target, obj: Plain, live: Plain) -> None:
    sent = obj["metadata"]
    if not sent.get("resourceVersion") and not target.kind.unconditional:
        raise unlocked(target.kind.resource, target.name)
    _check_uid(target, sent.get("uid"), live["metadata"]["uid"])


def _check_uid(target: Target, sent: str | None, found: str) -> None:
    """409 for a document that was made for another object of that name."""
    if not sent or sent == found:
        return
    kind = target.kind
    place = f"{kind.resource.group}/{kind.name}" if kind.custom else kind.name
    text = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{_KEPT_AS.get(place, place)}/"
        f"{target.key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: {sent}, UID in object meta: {found}"
    )
    raise conflict(kind.resource, target.name, text)


def _configured(target: Target, config: Any) -> Plain:
    where = DOCUMENT if target.sub == SCALE else target.kind.resource
    said = config if isinstance(config, dict) else {}
    version, kind = said.get("apiVersion", ""), said.get("kind", "")
    if (version, kind) != (where.api_version, where.kind):
        group = version if "/" in version else f"/{version}"
        raise bad_request(f"invalid object type: {group}, Kind={kind}")
    metadata = said.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    return said


def _applied_new(target: Target, sent: Plain, author: Author) -> Draft:
    merged = track_apply(target.kind, None, sent, author, force=False)
    obj = _fitted(target, merged)
    uid = obj["metadata"].pop("uid", None)
    if uid:
        text = (
            f"uid mismatch: the provided object specified uid {uid}, "
            "and no existing object was found"
        )
        raise conflict(target.kind.resource, target.name, text)
    check_revision(obj["metadata"].pop("resourceVersion", None))
    wipe(obj)
    _default(target.kind, obj)
    return Draft(target, obj)


def _applied_over(
    target: Target, base: Entry, sent: Plain, author: Author, *, force: bool
) -> Draft:
    live = wire.unpack(target.kind, base)
    merge = applied_scale if target.sub == SCALE else track_apply
    obj = _fitted(target, merge(target.kind, live, sent, author, force=force))
    _default(target.kind, obj)
    return Draft(target, obj, base=base, live=live)


def _fitted(target: Target, merged: Plain) -> Plain:
    """What applying came to, as an object of its kind in its place."""
    obj = identified(target.kind, merged)
    if target.kind.message is not None:
        fit(target.kind.message, obj)
    else:
        unknown_metadata(obj)
    placed(target.kind, obj, target.namespace, target.name)
    return obj


def _unconverted(kind: Kind, config: Plain, error: Mistyped) -> str:
    where = kind.resource
    what = f"{where.group}/{where.version}, Kind={where.kind}"
    return (
        f"failed to convert new object ({_titled(kind, config)}) to proper version: "
        f"unable to convert unstructured object to {what}: {error.converted}"
    )


def _titled(kind: Kind, config: Plain) -> str:
    metadata, where = config.get("metadata") or {}, kind.resource
    named = metadata if isinstance(metadata, dict) else {}
    name = f"{named.get('namespace', '')}/{named.get('name', '')}"
    return f"{name}; {where.group}/{where.version}, Kind={where.kind}"
