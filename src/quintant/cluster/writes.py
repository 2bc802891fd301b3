"""Writes: create, update, patch, apply.

A write reads the live object, has it drafted (quintant.cluster.drafts), then names, validates and
stores the draft, all in one synchronous step. A write that changes nothing leaves the revision
alone and nobody hears of it; one that takes the last finalizer of a deleted object removes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from quintant.cluster import drafts, wire
from quintant.cluster.auth import SERVER, User
from quintant.cluster.catalog import Plain
from quintant.cluster.drafts import Draft, Edit, Scrutiny, Target
from quintant.cluster.managed import Author
from quintant.cluster.objects import deleting, generated, held, judge, unique_owners
from quintant.cluster.problems import already_exists, invalid, no_unique_name, not_found
from quintant.cluster.ring import Entry
from quintant.cluster.store import Store, Table
from quintant.runtime.clock import Chance, Clock, timestamp

NAME_ATTEMPTS = 8
"""Generated names tried before giving up."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a client may say about a write beside the object."""

    manager: str = ""
    dry_run: bool = False
    force: bool = False
    scrutiny: Scrutiny = field(default_factory=Scrutiny)
    user: User = SERVER


@dataclass(frozen=True, slots=True)
class Result:
    """The object after a write, and what its writer should know."""

    entry: Entry
    created: bool = False
    warnings: tuple[str, ...] = ()


class Writes:
    """The write path of every kind. `guard` refuses what a user may not make of an object."""

    def __init__(
        self, store: Store, clock: Clock, chance: Chance, guard: Callable[[Draft, User], None]
    ) -> None:
        self._store = store
        self._clock = clock
        self._chance = chance
        self._guard = guard

    def create(self, target: Target, sent: Any, options: Options = Options()) -> Result:
        """Store a new object; 409 if its name is taken."""
        author = self._author(target, options)
        return self._insert(drafts.created(target, sent, author, options.scrutiny), options)

    def replace(self, target: Target, sent: Any, options: Options = Options()) -> Result:
        """Put an object in the place of the live one; some kinds may be created so, too."""
        entry = self.read(target)
        if entry is None and target.kind.upsert and not target.sub:
            return self.create(target, sent, options)
        base, author = self.found(target), self._author(target, options)
        return self._update(drafts.replaced(target, base, sent, author, options.scrutiny), options)

    def edit(self, target: Target, edit: Edit, options: Options = Options()) -> Result:
        """Store what `edit` makes of the live object; 404 if there is none."""
        base, author = self.found(target), self._author(target, options)
        return self._update(drafts.edited(target, base, edit, author, options.scrutiny), options)

    def apply(self, target: Target, config: Any, options: Options) -> Result:
        """Merge a configuration into the live object, or create it from the configuration."""
        base, author = self.read(target), self._author(target, options)
        draft = drafts.applied(target, base, config, author, force=options.force)
        return (self._insert if base is None else self._update)(draft, options)

    def amend(self, target: Target, edit: Edit) -> Entry:
        """Store what `edit` makes of the live object, with no owner of fields and no generation."""
        base = self.found(target)
        obj = edit(wire.unpack(target.kind, base))
        if deleting(obj) and not held(target.kind, obj):
            self.remove(target)
            return wire.pack(target.kind, obj, base.rv)
        return base if obj == wire.unpack(target.kind, base) else self.put(target, obj)

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
        return self._store.put(self._table(target), target.key, wire.pack(target.kind, obj))

    def remove(self, target: Target) -> None:
        """Take an object out of the store, past every rule."""
        self._store.delete(self._table(target), target.key)

    def _insert(self, draft: Draft, options: Options) -> Result:
        obj = draft.obj
        self._guard(draft, options.user)
        warnings = draft.warnings + _warnings(obj)
        target = self._named(draft.target, obj["metadata"])
        obj["metadata"]["uid"] = self._chance.id()
        obj["metadata"]["creationTimestamp"] = timestamp(self._clock.now())
        self._settle(target, obj, None)
        warnings += _judged(target, obj, None, warnings)
        taken = self.read(target)
        if taken is not None:
            dying = deleting(wire.unpack(target.kind, taken))
            raise already_exists(target.kind.resource, target.name, deleting=dying)
        entry = wire.pack(target.kind, obj) if options.dry_run else self.put(target, obj)
        return Result(entry, created=True, warnings=warnings)

    def _named(self, target: Target, metadata: Plain) -> Target:
        """The target with the object's name, generated if need be."""
        base = metadata.get("generateName")
        if not metadata.get("name") and base and target.kind.generates_names:
            for _ in range(NAME_ATTEMPTS):
                metadata["name"] = generated(base, self._chance)
                if self.read(replace(target, name=metadata["name"])) is None:
                    break
            else:
                raise no_unique_name(target.kind.resource, metadata["name"])
        return replace(target, name=metadata.get("name", ""))

    def _update(self, draft: Draft, options: Options) -> Result:
        target, obj, base = draft.target, draft.obj, draft.base
        assert base is not None, "an update has something to update"
        self._guard(draft, options.user)
        warnings = draft.warnings + _warnings(obj)
        self._settle(target, obj, draft.live)
        warnings += _judged(target, obj, draft.live, warnings)
        if obj == draft.live:
            return Result(base, warnings=warnings)
        if options.dry_run or (deleting(obj) and not held(target.kind, obj)):
            if not options.dry_run:
                self.remove(target)
            return Result(wire.pack(target.kind, obj, base.rv), warnings=warnings)
        return Result(self.put(target, obj), warnings=warnings)

    def _settle(self, target: Target, obj: Plain, live: Plain | None) -> None:
        if target.kind.settle is not None:
            target.kind.settle(obj, live, lambda: self._others(target))

    def _others(self, target: Target) -> Iterator[Plain]:
        for key, entry in self._table(target).entries.items():
            if key != target.key:
                yield wire.unpack(target.kind, entry)

    def _author(self, target: Target, options: Options) -> Author:
        return Author(options.manager, timestamp(self._clock.now()), target.sub)

    def _table(self, target: Target) -> Table:
        return self._store.table(target.kind.table)


def _judged(
    target: Target, obj: Plain, live: Plain | None, warnings: tuple[str, ...]
) -> tuple[str, ...]:
    """What else the author should know; 422 if anything is wrong, with every warning so far."""
    verdict = judge(target.kind, obj, live, target.sub)
    advice = tuple(verdict.warnings)
    if verdict.causes:
        name = obj["metadata"].get("name", "")
        raise invalid(target.kind.resource, name, *verdict.causes).warned(*warnings, *advice)
    return advice


def _warnings(obj: Plain) -> tuple[str, ...]:
    again = unique_owners(obj)
    if not again:
        return ()
    return (
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references "
        "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
        f"duplicate UID(s) observed: {', '.join(again)}",
    )
