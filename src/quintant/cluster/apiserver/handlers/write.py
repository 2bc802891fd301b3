"""Writes: create, update, patch, apply, in five steps after the draft.

    draft (quintant.cluster.apiserver.handlers.draft)
      ─► admit: admission plugins ─► [mutating webhooks]
      ─► prepare: PrepareForCreate, PrepareForUpdate
      ─► authorize_and_name: escalation, quota, generated name, what the server assigns
      ─► validate ─► [validating webhooks]
      ─► store

Every step is synchronous, and so is a write as a whole unless a webhook has to be asked or a step
is so large that a thread does it (quintant.cluster.apiserver.handlers.admitted_write). A write that
changes nothing leaves the revision alone and nobody hears of it; one that takes the last finalizer
of a deleted object removes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.fieldmanager.managers import FieldManager
from quintant.cluster.apiserver.handlers import draft as drafts
from quintant.cluster.apiserver.handlers.apply import applied
from quintant.cluster.apiserver.handlers.prepare import bump_generation, prepare
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.metadata_rules import (
    dedup_owner_references,
    deleting,
    generate_name,
    has_finalizers,
    validate,
)
from quintant.cluster.apiserver.meta.field_errors import invalid_object
from quintant.cluster.apiserver.meta.status import (
    StatusError,
    already_exists,
    no_unique_name,
    not_found,
    unknown_error,
)
from quintant.cluster.apiserver.meta.types import Edit, JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.core.clock import Clock, Random, timestamp

_LATE = " after mutating admission happens"
"""When the owners of what was patched are looked at; others are before that, too."""
NAME_ATTEMPTS = 8
"""Generated names tried before giving up."""


class WriteResult(msgspec.Struct, frozen=True):
    """The object after a write, and what its writer should know."""

    entry: StoredEntry
    created: bool = False
    warnings: tuple[str, ...] = ()


class AdmissionControl(Protocol):
    """What a server holds writes to, beside the rules of their kind."""

    def check_create(self, target: ObjectRef) -> None:
        """Refuse a new object where none may be."""

    def admit(self, draft: Draft, options: WriteOptions) -> None:
        """Have the server's own admission amend or refuse a draft, in place."""

    def authorize(self, draft: Draft, user: User) -> None:
        """Refuse what a user may not make of an object."""


class Writes:
    """The write path of every kind."""

    def __init__(
        self, stored: ObjectStore, clock: Clock, random: Random, admission: AdmissionControl
    ) -> None:
        self._stored = stored
        self._clock = clock
        self._random = random
        self._admission = admission

    def create(
        self, target: ObjectRef, sent: Any, options: WriteOptions = WriteOptions()
    ) -> WriteResult:
        """Store a new object; 409 if its name is taken."""
        return self.write(self.draft_create(target, sent, options), options)

    def update(
        self, target: ObjectRef, edit: Edit, options: WriteOptions = WriteOptions()
    ) -> WriteResult:
        """Store what `edit` makes of the live object; 404 if there is none."""
        return self.write(self.draft_patch(target, edit, options), options)

    def update_by_server(
        self, target: ObjectRef, state: Edit, options: WriteOptions
    ) -> WriteResult:
        """Store what the server itself makes of a live object's status: nothing is read anew."""
        base, author = self._stored.get(target), self._author(target, options)
        return self._finish(drafts.server_updated(target, base, state, author), options)

    def apply(self, target: ObjectRef, config: Any, options: WriteOptions) -> WriteResult:
        """Merge a configuration into the live object, or create it from the configuration."""
        return self.write(self.draft_apply(target, config, options), options)

    def draft_create(self, target: ObjectRef, sent: Any, options: WriteOptions) -> Draft:
        """A new object."""
        return drafts.created(target, sent, self._author(target, options), options.field_validation)

    def draft_update(self, target: ObjectRef, sent: Any, options: WriteOptions) -> Draft:
        """An object in the place of the live one; some kinds may be created so, too."""
        draft = drafts.read(target, sent, options.field_validation)
        base, author = self._stored.get_or_none(target), self._author(target, options)
        if base is not None:
            return drafts.replaced(draft, base, author)
        if target.kind.strategy.update.allow_create_on_update and not target.subresource:
            return drafts.created_by_update(draft, author)
        warnings = draft.warnings + dedup_owner_references(draft.obj)
        raise not_found(target.kind.resource, target.name).with_warnings(*warnings)

    def draft_patch(self, target: ObjectRef, edit: Edit, options: WriteOptions) -> Draft:
        """What `edit` makes of the live object; 404 if there is none."""
        base, author = self._stored.get(target), self._author(target, options)
        return drafts.patched(target, base, edit, author, options.field_validation)

    def draft_apply(self, target: ObjectRef, config: Any, options: WriteOptions) -> Draft:
        """A configuration merged into the live object, or a new object made from it."""
        base, author = self._stored.get_or_none(target), self._author(target, options)
        return applied(target, base, config, author, options.field_validation, force=options.force)

    def write(self, draft: Draft, options: WriteOptions) -> WriteResult:
        """Store a draft, without asking any webhook."""
        self.admit(draft, options)
        return self._finish(draft, options)

    def admit(self, draft: Draft, options: WriteOptions) -> None:
        """Refuse a draft that has no place here, and add what the server always adds, in place."""
        if draft.base is None:
            name = draft.obj["metadata"].get("name", "")
            self._admission.check_create(draft.target.with_name(name))
        self._admission.admit(draft, options)

    def prepare(self, draft: Draft) -> Draft:
        """The draft held to what may change, and completed, in place."""
        try:
            found = prepare(draft)
        except StatusError as error:
            raise error.with_warnings(*draft.warnings) from None
        told = dedup_owner_references(draft.obj, _LATE)
        return replace(draft, warnings=draft.warnings + told, update_errors=tuple(found))

    def authorize_and_name(self, draft: Draft, options: WriteOptions) -> Draft:
        """What is shaped as it will be stored: allowed, and named."""
        self._admission.authorize(draft, options.user)
        obj, target = draft.obj, draft.target
        if draft.base is None:
            target = self._name(target, obj["metadata"])
            obj["metadata"]["uid"] = self._random.id()
            obj["metadata"]["creationTimestamp"] = self.now
        looked = self._assign(target, obj, draft.live)
        return replace(draft, target=target, others_read_at=looked)

    def validate(self, ready: Draft) -> Draft:
        """What is ready, counted and found valid; 422 if anything is wrong. It can be repeated."""
        if ready.live is not None:
            bump_generation(ready.target.kind, ready.obj, ready.live)
        advice = _advice(ready)
        return replace(ready, warnings=(*ready.warnings, *advice)) if advice else ready

    def store(self, ready: Draft, options: WriteOptions) -> WriteResult:
        """Store what is ready; whoever waited meanwhile has to make sure that it is `current`."""
        return (self._insert if ready.base is None else self._update)(ready, options)

    @property
    def now(self) -> str:
        """The time, as objects tell it."""
        return timestamp(self._clock.now())

    def is_current(self, draft: Draft, ready: Draft, options: WriteOptions) -> bool:
        """Whether nothing that a draft was made from has changed since.

        StatusError if there is no place or no permission for it any more.
        """
        entry, base = self._stored.read(draft.target), draft.base
        if (entry and entry.rv) != (base and base.rv):
            return False
        if base is None:
            self._admission.check_create(ready.target)
        self._admission.authorize(draft, options.user)
        return ready.others_read_at is None or self._stored.unchanged_since(
            draft.target, ready.others_read_at
        )

    def _finish(self, draft: Draft, options: WriteOptions) -> WriteResult:
        ready = self.authorize_and_name(self.prepare(draft), options)
        return self.store(self.validate(ready), options)

    def _insert(self, ready: Draft, options: WriteOptions) -> WriteResult:
        if ready.has_resource_version and not options.dry_run:
            raise unknown_error("resourceVersion should not be set on objects to be created")
        target, taken = ready.target, self._stored.read(ready.target)
        if taken is not None:
            dying = deleting(stored_json.unpack(target.kind.storage_kind or target.kind, taken))
            error = already_exists(target.kind.resource, target.name, deleting=dying)
            raise error.with_warnings(*ready.warnings)
        packed = stored_json.pack(target.kind, ready.obj)
        entry = packed if options.dry_run else self._stored.put_packed(target, packed)
        return WriteResult(entry, created=True, warnings=ready.warnings)

    def _name(self, target: ObjectRef, metadata: JsonObject) -> ObjectRef:
        """The target with the object's name, generated if need be."""
        base = metadata.get("generateName")
        create = target.kind.strategy.create
        if create.generate_missing_name and not (metadata.get("name") or base):
            metadata["name"] = self._random.id()
        if not metadata.get("name") and base:
            for _ in range(NAME_ATTEMPTS):
                metadata["name"] = generate_name(base, self._random)
                if self._stored.read(target.with_name(metadata["name"])) is None:
                    break
            else:
                raise no_unique_name(target.kind.resource, metadata["name"])
        return target.with_name(metadata.get("name", ""))

    def _update(self, ready: Draft, options: WriteOptions) -> WriteResult:
        target, obj, base = ready.target, ready.obj, ready.base
        assert base is not None, "an update has something to update"
        if obj == ready.live:
            return WriteResult(base, warnings=ready.warnings)
        if options.dry_run or (deleting(obj) and not has_finalizers(target.kind, obj)):
            if not options.dry_run:
                self._stored.remove(target)
            return WriteResult(stored_json.pack(target.kind, obj, base.rv), warnings=ready.warnings)
        return WriteResult(self._stored.put(target, obj), warnings=ready.warnings)

    def _assign(self, target: ObjectRef, obj: JsonObject, live: JsonObject | None) -> int | None:
        """Let the server decide what it decides; the revision at which others were looked at."""
        assign = target.kind.strategy.assign
        if assign is None:
            return None
        looked: list[int] = []

        def others() -> Iterator[JsonObject]:
            looked.append(self._stored.revision)
            return self._stored.others(target)

        assign(obj, live, others)
        return looked[0] if looked else None

    def _author(self, target: ObjectRef, options: WriteOptions) -> FieldManager:
        return FieldManager(options.manager, options.now or self.now, target.subresource)


def _advice(ready: Draft) -> tuple[str, ...]:
    """What else the author should know; 422 if anything is wrong, with every warning so far."""
    kind, obj = ready.target.kind, ready.obj
    result = validate(kind, obj, ready.live, ready.target.subresource)
    advice, causes = tuple(result.warnings), (*ready.update_errors, *result.errors)
    if causes:
        where = kind.strategy.validation.reported_as or kind.resource
        name = obj["metadata"].get("name", "")
        raise invalid_object(where, name, *causes).with_warnings(*ready.warnings, *advice)
    return advice
