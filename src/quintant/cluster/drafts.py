"""Drafts: what an object shall be after a write, decided without touching the store.

From what a client sent and the live object, in the order of a real server: decode, default, track
field ownership. What is applied is in quintant.cluster.applying. After admission has had its say,
quintant.cluster.finishing holds what may not change; what remains for the write path
(quintant.cluster.writes) is to name, validate and store the draft.
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
from quintant.cluster.managed import track_update
from quintant.cluster.objects import (
    check_revision,
    identified,
    placed,
    unknown_metadata,
    wipe,
)
from quintant.cluster.problems import (
    bad_request,
    conflict,
    unexplained,
    unlocked,
    unpatchable,
)
from quintant.cluster.ring import Entry
from quintant.cluster.scale import SCALE, track_scale

_KEPT_AS = {
    "services": "services/specs",
    "endpoints": "services/endpoints",
    "nodes": "minions",
}
"""Where a real server keeps what it does not keep by its plural; it says so."""


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

    def named(self, name: str) -> Target:
        """The same, with another name."""
        return Target(self.kind, self.namespace, name, self.sub)


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
    default(kind, obj)
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


def revised(draft: Draft, sent: Any) -> Draft:
    """The draft after a webhook made something else of its object; Mistyped if that is none."""
    kind = draft.target.kind
    obj = _sent(kind, sent)
    _unknown(kind, obj)
    placed(kind, obj, draft.target.namespace)
    default(kind, obj)
    return replace(draft, obj=obj)


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


def default(kind: Kind, obj: Plain) -> None:
    """Add what the kind says of what is absent, in place."""
    if kind.default is not None:
        kind.default(obj)


def _updated(
    target: Target,
    base: Entry,
    obj: Plain,
    live: Plain,
    author: Author,
    warnings: tuple[str, ...],
) -> Draft:
    default(target.kind, obj)
    track = track_scale if target.sub == SCALE else track_update
    track(target.kind, live, obj, author)
    return Draft(target, obj, warnings, base, live)


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
