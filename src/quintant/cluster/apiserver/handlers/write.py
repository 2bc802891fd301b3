"""registry.Store: create, update, patch, apply, in the steps of kube-apiserver and in its order.

    draft (quintant.cluster.apiserver.handlers: create, update, patch, apply)
      ─► admit: mutating plugins ─► [mutating webhooks]
      ─► check_escalation ─► prepare: PrepareForCreate, PrepareForUpdate ─► assign: name, uid, IPs
      ─► validate (422) ─► check_admission: may an update create?, validating plugins (403)
      ─► [validating webhooks]
      ─► store: ResourceQuota (403), name taken (409)

Every step is synchronous, and so is a write as a whole unless a webhook has to be asked or a step
is so large that a thread does it (quintant.cluster.apiserver.handlers.admitted_write). A write that
changes nothing leaves the revision alone and nobody hears of it; one that takes the last finalizer
of a deleted object removes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.handlers.apply import draft_apply
from quintant.cluster.apiserver.handlers.assign import assign
from quintant.cluster.apiserver.handlers.before_write import bump_generation, prepare
from quintant.cluster.apiserver.handlers.create import draft_create
from quintant.cluster.apiserver.handlers.patch import draft_patch
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.handlers.update import draft_server_update
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.metadata_rules import (
    dedup_owner_references,
    deleting,
    has_finalizers,
)
from quintant.cluster.apiserver.kinds.metadata_rules import (
    validate as validate_object,
)
from quintant.cluster.apiserver.meta.field_errors import invalid_object
from quintant.cluster.apiserver.meta.status import (
    StatusError,
    already_exists,
    unknown_error,
)
from quintant.cluster.apiserver.meta.types import Edit
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.core.clock import Clock, Random, timestamp

_LATE = " after mutating admission happens"
"""When the owners of what was patched are looked at; others are before that, too."""


class WriteResult(msgspec.Struct, frozen=True):
    """The object after a write, and what its writer should know."""

    entry: StoredEntry
    created: bool = False
    warnings: tuple[str, ...] = ()


class AdmissionControl(Protocol):
    """What a server holds writes to, beside the rules of their kind."""

    def check_create(self, target: ObjectRef) -> None:
        """Refuse a new object whose namespace or definition is absent or being deleted."""

    def admit(self, draft: Draft, options: WriteOptions) -> None:
        """Run the mutating plugins: they amend a draft, in place, or refuse it."""

    def check_escalation(self, draft: Draft, user: User) -> None:
        """Refuse a role or binding that gives more than its author holds."""

    def authorize_create(self, draft: Draft, user: User) -> None:
        """Refuse an update that creates, of a user who may not create."""

    def validate(self, draft: Draft, user: User) -> None:
        """Run the validating plugins, but for the quota: they refuse a draft that is valid."""

    def check_quota(self, draft: Draft) -> None:
        """Refuse what its namespace has no room for; what is allowed is to be stored at once."""


ReadRequest = Callable[[ObjectStore, ApiRequest, ObjectRef, User, str], tuple[Draft, WriteOptions]]
"""Makes a draft of the request of a verb, at a time; it reads no more than the object itself."""


class PureSteps:
    """The steps of a write that follow from their arguments alone: no clock, no chance.

    Whoever makes one world again and again gives its servers others, which remember what came of
    the same arguments (quintant.testing.explore.simulation.memo).
    """

    def draft(
        self,
        read: ReadRequest,
        objects: ObjectStore,
        call: ApiRequest,
        target: ObjectRef,
        user: User,
        now: str,
    ) -> tuple[Draft, WriteOptions]:
        """The draft that a request asks for at a time, and its options."""
        return read(objects, call, target, user, now)

    # No method around it: every write would pay for it.
    validate = staticmethod(validate_object)
    """What is wrong with an object, and what its author should know; it stays as it is."""


class Writes:
    """The write path of every kind."""

    def __init__(
        self,
        stored: ObjectStore,
        clock: Clock,
        random: Random,
        admission: AdmissionControl,
        steps: PureSteps,
    ) -> None:
        self._stored = stored
        self._clock = clock
        self._random = random
        self._admission = admission
        self._steps = steps

    def create(
        self, target: ObjectRef, sent: Any, options: WriteOptions = WriteOptions()
    ) -> WriteResult:
        """Store a new object; 409 if its name is taken."""
        options = self._timed(options)
        return self.write(draft_create(target, sent, options), options)

    def update(
        self, target: ObjectRef, edit: Edit, options: WriteOptions = WriteOptions()
    ) -> WriteResult:
        """Store what `edit` makes of the live object; 404 if there is none."""
        options = self._timed(options)
        return self.write(draft_patch(self._stored, target, edit, options), options)

    def update_by_server(
        self, target: ObjectRef, state: Edit, options: WriteOptions
    ) -> WriteResult:
        """Store what the server itself makes of a live object's status: it is not decoded again."""
        options = self._timed(options)
        return self._finish(draft_server_update(self._stored, target, state, options), options)

    def apply(self, target: ObjectRef, config: Any, options: WriteOptions) -> WriteResult:
        """Merge a configuration into the live object, or create it from the configuration."""
        options = self._timed(options)
        return self.write(draft_apply(self._stored, target, config, options), options)

    def write(self, draft: Draft, options: WriteOptions) -> WriteResult:
        """Store a draft, without asking any webhook."""
        self.admit(draft, options)
        return self._finish(draft, options)

    def admit(self, draft: Draft, options: WriteOptions) -> None:
        """Run the mutating plugins: they amend a draft, in place, or refuse it."""
        self._admission.admit(draft, options)

    def check_escalation(self, draft: Draft, options: WriteOptions) -> None:
        """Refuse a role or binding that gives more than its author holds."""
        self._admission.check_escalation(draft, options.user)

    def prepare(self, draft: Draft, options: WriteOptions) -> Draft:
        """The draft held to what may change, and completed, in place."""
        try:
            found = prepare(draft, options.user, options.now)
        except StatusError as error:
            raise error.with_warnings(*draft.warnings) from None
        warnings = dedup_owner_references(draft.obj, _LATE)
        return replace(draft, warnings=draft.warnings + warnings, update_errors=tuple(found))

    def assign(self, draft: Draft) -> Draft:
        """What is shaped as it will be stored, with what the server assigns: name, uid, IPs."""
        now = self.now if draft.base is None else ""
        return assign(draft, self._stored, self._random, now)

    def validate(self, ready: Draft) -> Draft:
        """What is ready, counted and found valid; 422 if anything is wrong. It can be repeated."""
        if ready.live is not None:
            bump_generation(ready.target.kind, ready.obj, ready.live)
        advice = self._advice(ready)
        return replace(ready, warnings=(*ready.warnings, *advice)) if advice else ready

    def check_admission(self, ready: Draft, options: WriteOptions) -> None:
        """Refuse what is valid by itself, and is not allowed to this user or in this namespace."""
        self._admission.authorize_create(ready, options.user)
        self._admission.validate(ready, options.user)

    def store(self, ready: Draft, options: WriteOptions) -> WriteResult:
        """Store what is ready if its namespace has room for it.

        A caller that waited meanwhile has to make sure that it `is_current`.
        """
        self._admission.check_quota(ready)
        return (self._insert if ready.base is None else self._update)(ready, options)

    @property
    def now(self) -> str:
        """The time, as objects tell it."""
        return timestamp(self._clock.now())

    def is_current(self, draft: Draft, ready: Draft, options: WriteOptions) -> bool:
        """Whether nothing that a draft was made from has changed since.

        StatusError if its namespace or the permission for it is gone.
        """
        entry, base = self._stored.read(draft.target), draft.base
        if (entry and entry.rv) != (base and base.rv):
            return False
        if base is None:
            self._admission.check_create(ready.target)
        self._admission.check_escalation(draft, options.user)
        return ready.others_read_at is None or self._stored.unchanged_since(
            draft.target, ready.others_read_at
        )

    def _timed(self, options: WriteOptions) -> WriteOptions:
        return options if options.now else replace(options, now=self.now)

    def _finish(self, draft: Draft, options: WriteOptions) -> WriteResult:
        self.check_escalation(draft, options)
        ready = self.validate(self.assign(self.prepare(draft, options)))
        self.check_admission(ready, options)
        return self.store(ready, options)

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

    def _advice(self, ready: Draft) -> tuple[str, ...]:
        """What else the author should know; 422 if anything is wrong, with every warning so far."""
        kind, obj = ready.target.kind, ready.obj
        result = self._steps.validate(kind, obj, ready.live, ready.target.subresource)
        advice, causes = tuple(result.warnings), (*ready.update_errors, *result.errors)
        if causes:
            resource = kind.strategy.validation.reported_as or kind.resource
            name = obj["metadata"].get("name", "")
            raise invalid_object(resource, name, *causes).with_warnings(*ready.warnings, *advice)
        return advice
