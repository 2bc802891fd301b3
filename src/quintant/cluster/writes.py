"""Writes: create, update, patch, apply.

Every write is proposed from the live object and then stored, in one synchronous step: decide what
the object shall be (pure), keep what clients may not change, normalise, track field ownership,
validate, and store it unless nothing changed. A write that changes nothing leaves the revision
alone and nobody hears of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from quintant.cluster import wire
from quintant.cluster.catalog import Kind, Plain
from quintant.cluster.managed import Author, track_apply, track_update
from quintant.cluster.merging import Untypable
from quintant.cluster.objects import (
    check,
    check_immutable,
    content,
    deleting,
    generated,
    identified,
    keep,
    placed,
    unique_owners,
    wipe,
)
from quintant.cluster.problems import (
    already_exists,
    bad_request,
    conflict,
    modified,
    no_unique_name,
    not_found,
    unexplained,
    unlocked,
)
from quintant.cluster.ring import Entry
from quintant.cluster.store import Store, Table
from quintant.runtime.clock import Chance, Clock, timestamp

NAME_ATTEMPTS = 8
"""Generated names tried before giving up."""

Edit = Callable[[Plain], Any]
"""From the live object, which it may change, to what a client wants it to be."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about: a kind, a place in it, the whole object or its status."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    sub: str = ""

    @property
    def key(self) -> str:
        return self.kind.key(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Options:
    """What a client may say about a write beside the object."""

    manager: str = ""
    dry_run: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The object after a write, and what its writer should know."""

    entry: Entry
    created: bool = False
    warnings: tuple[str, ...] = ()


class Writes:
    """The write path of every kind. `guard` refuses creations where nothing may be created."""

    def __init__(
        self, store: Store, clock: Clock, chance: Chance, guard: Callable[[Target], None]
    ) -> None:
        self._store = store
        self._clock = clock
        self._chance = chance
        self._guard = guard

    def create(self, target: Target, sent: Any, options: Options = Options()) -> Result:
        """Store a new object; 409 if its name is taken."""
        obj = identified(target.kind, sent)
        placed(target.kind, obj, target.namespace, target.name)
        if obj["metadata"].get("resourceVersion"):
            raise unexplained("resourceVersion should not be set on objects to be created")
        self._guard(target)
        self._initiate(target.kind, obj)
        track_update(target.kind, None, obj, self._author(target, options))
        return self._insert(target, obj, options)

    def replace(self, target: Target, sent: Any, options: Options = Options()) -> Result:
        """Put an object in the place of the live one."""
        obj = identified(target.kind, sent)
        placed(target.kind, obj, target.namespace, target.name)
        entry = self.read(target)
        if entry is None and target.kind.upsert and not target.sub:
            return self.create(target, sent, options)
        if entry is not None:
            self._check_replacement(target, entry, obj)
        return self.edit(target, lambda live: obj, options)

    def edit(self, target: Target, change: Edit, options: Options = Options()) -> Result:
        """Store what `change` makes of the live object; 404 if there is none."""
        entry = self.found(target)
        live = wire.unpack(target.kind, entry)
        obj = identified(target.kind, change(wire.unpack(target.kind, entry)))
        placed(target.kind, obj, target.namespace, target.name)
        self._restrain(target, entry, obj, live)
        track_update(target.kind, live, obj, self._author(target, options))
        return self._update(target, entry, obj, live, options)

    def apply(self, target: Target, config: Any, options: Options) -> Result:
        """Merge a configuration into the live object, or create it from the configuration."""
        sent = self._configured(target, config)
        entry = self.read(target)
        author = self._author(target, options)
        try:
            if entry is None:
                return self._apply_new(target, sent, author, options)
            return self._apply_over(target, entry, sent, author, options)
        except Untypable as error:
            raise unexplained(_untyped(target.kind, config, error)) from None

    def read(self, target: Target) -> Entry | None:
        """The stored entry, if there is one."""
        return self._table(target).entries.get(target.key)

    def found(self, target: Target) -> Entry:
        """The stored entry; 404 if there is none."""
        entry = self.read(target)
        if entry is None:
            raise not_found(target.kind.resource, target.name)
        return entry

    def put(self, target: Target, obj: Plain) -> Entry:
        """Store an object as it is, past every rule."""
        entry = wire.pack(target.kind, obj)
        return self._store.put(self._table(target), target.key, entry)

    def remove(self, target: Target) -> None:
        """Take an object out of the store, past every rule."""
        self._store.delete(self._table(target), target.key)

    def _apply_over(
        self, target: Target, entry: Entry, sent: Plain, author: Author, options: Options
    ) -> Result:
        live = wire.unpack(target.kind, entry)
        obj = track_apply(target.kind, live, sent, author, force=options.force)
        if "resourceVersion" not in sent["metadata"]:
            obj["metadata"].pop("resourceVersion", None)
        managed = obj["metadata"].pop("managedFields", None)
        self._restrain(target, entry, obj, live)
        obj["metadata"].pop("managedFields", None)
        obj["metadata"] |= {"managedFields": managed} if managed else {}
        return self._update(target, entry, obj, live, options)

    def _initiate(self, kind: Kind, obj: Plain) -> None:
        """Make what was sent the beginning of an object, in place."""
        wipe(obj)
        if kind.resource.status and not kind.keeps_status:
            obj.pop("status", None)
            obj |= {} if kind.custom else {"status": {}}
        if kind.generation:
            obj["metadata"]["generation"] = 1
        if kind.complete is not None:
            kind.complete(obj)
        self._normalise(kind, obj)

    def _insert(self, target: Target, obj: Plain, options: Options) -> Result:
        warnings = _warnings(obj)
        target = self._named(target, obj)
        metadata = obj["metadata"]
        metadata["uid"] = self._chance.id()
        metadata["creationTimestamp"] = timestamp(self._clock.now())
        check(target.kind, obj)
        taken = self.read(target)
        if taken is not None:
            dying = deleting(wire.unpack(target.kind, taken))
            raise already_exists(target.kind.resource, target.name, deleting=dying)
        entry = wire.pack(target.kind, obj) if options.dry_run else self.put(target, obj)
        return Result(entry, created=True, warnings=warnings)

    def _named(self, target: Target, obj: Plain) -> Target:
        """The target with the object's name, generated if need be."""
        metadata = obj["metadata"]
        base = metadata.get("generateName")
        named = Target(target.kind, target.namespace, metadata.get("name", ""), target.sub)
        if named.name or not base or not target.kind.generates_names:
            return named
        for _ in range(NAME_ATTEMPTS):
            metadata["name"] = generated(base, self._chance)
            named = Target(target.kind, target.namespace, metadata["name"], target.sub)
            if self.read(named) is None:
                return named
        raise no_unique_name(target.kind.resource, named.name)

    def _restrain(self, target: Target, entry: Entry, obj: Plain, live: Plain) -> None:
        """Hold what an update may not change, in place; 409 if it was made for another state."""
        locked = obj["metadata"].get("resourceVersion")
        if locked and locked != str(entry.rv):
            raise modified(target.kind.resource, target.name)
        check_immutable(target.kind, obj, live)
        if target.sub == "status":
            _only_status(target.kind, obj, live)
        elif target.kind.resource.status:
            _without_status(obj, live)
        keep(obj, live)
        self._normalise(target.kind, obj)
        if target.kind.generation and content(target.kind, obj) != content(target.kind, live):
            obj["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1

    def _update(
        self, target: Target, entry: Entry, obj: Plain, live: Plain, options: Options
    ) -> Result:
        warnings = _warnings(obj)
        check(target.kind, obj, live)
        if obj == live:
            return Result(entry, warnings=warnings)
        done = deleting(obj) and not obj["metadata"].get("finalizers") and not _waiting(obj)
        if options.dry_run or done:
            if not options.dry_run:
                self.remove(target)
            return Result(wire.pack(target.kind, obj, entry.rv), warnings=warnings)
        return Result(self.put(target, obj), warnings=warnings)

    def _apply_new(self, target: Target, sent: Plain, author: Author, options: Options) -> Result:
        if target.sub:
            raise not_found(target.kind.resource, target.name)
        if sent["metadata"].get("uid"):
            text = (
                f"uid mismatch: the provided object specified uid {sent['metadata']['uid']}, "
                "and no existing object was found"
            )
            raise conflict(target.kind.resource, target.name, text)
        sent["metadata"].pop("resourceVersion", None)
        self._guard(target)
        obj = track_apply(target.kind, None, sent, author, force=options.force)
        self._initiate(target.kind, obj)
        return self._insert(target, obj, options)

    def _configured(self, target: Target, config: Any) -> Plain:
        where = target.kind.resource
        said = config if isinstance(config, dict) else {}
        version, kind = said.get("apiVersion", ""), said.get("kind", "")
        if (version, kind) != (where.api_version, where.kind):
            group = version if "/" in version else f"/{version}"
            raise bad_request(f"invalid object type: {group}, Kind={kind}")
        sent = identified(target.kind, config)
        if sent["metadata"].get("managedFields"):
            raise bad_request("metadata.managedFields must be nil")
        placed(target.kind, sent, target.namespace, target.name)
        return sent

    def _check_replacement(self, target: Target, entry: Entry, obj: Plain) -> None:
        sent = obj["metadata"]
        if not sent.get("resourceVersion") and not target.kind.unconditional:
            raise unlocked(target.kind.resource, target.name)
        uid = wire.unpack(target.kind, entry)["metadata"]["uid"]
        if sent.get("uid", uid) != uid:
            text = (
                f"StorageError: invalid object, Code: 4, Key: {_registry(target)}, "
                "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
                f"UID in precondition: {sent['uid']}, UID in object meta: {uid}"
            )
            raise conflict(target.kind.resource, target.name, text)

    def _author(self, target: Target, options: Options) -> Author:
        return Author(options.manager, timestamp(self._clock.now()), target.sub)

    def _normalise(self, kind: Kind, obj: Plain) -> None:
        if kind.normalise is not None:
            kind.normalise(obj)

    def _table(self, target: Target) -> Table:
        return self._store.table(target.kind.table)


def _only_status(kind: Kind, obj: Plain, live: Plain) -> None:
    """Make the proposal differ from the live object in its status alone, in place."""
    status, metadata = obj.get("status"), obj["metadata"]
    obj.clear()
    obj.update(live)
    obj["metadata"] = metadata if kind.status_metadata else dict(live["metadata"])
    if status is None:
        obj.pop("status", None)
    else:
        obj["status"] = status


def _without_status(obj: Plain, live: Plain) -> None:
    if "status" in live:
        obj["status"] = live["status"]
    else:
        obj.pop("status", None)


def _untyped(kind: Kind, config: Plain, error: Untypable) -> str:
    metadata, where = config.get("metadata") or {}, kind.resource
    name = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    what = f"{name}; {where.api_version}, Kind={where.kind}"
    return f"failed to create typed patch object ({what}): {error}"


def _registry(target: Target) -> str:
    """Where a real server would keep the object."""
    group = f"{target.kind.resource.group}/" if target.kind.custom else ""
    return f"/registry/{group}{target.kind.name}/{target.key}"


def _waiting(obj: Plain) -> bool:
    """Whether a grace period holds the object."""
    return bool(obj["metadata"].get("deletionGracePeriodSeconds"))


def _warnings(obj: Plain) -> tuple[str, ...]:
    again = unique_owners(obj)
    if not again:
        return ()
    return (
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references "
        "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
        f"duplicate UID(s) observed: {', '.join(again)}",
    )
