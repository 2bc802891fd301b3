"""GuaranteedUpdate: writes and deletions with admission, tried again when another came first.

Where policies or webhooks are asked, or what is written is large
(quintant.cluster.apiserver.offload.pool), a write is no longer one step. When it comes to storing,
the live object may be another one than the draft was made from; then everything begins anew, with a
new draft, as in the loop of a real server (GuaranteedUpdate): a PUT for another state ends with
409, a patch is redone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from quintant.cluster.apiserver.admission.plugins.service_account import RetryAdmission
from quintant.cluster.apiserver.codec.decode import drop_unknown, sent_object
from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.crd.conversion_webhook import ConversionNeeded
from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.handlers.admission_attributes import (
    connect_attributes,
    delete_attributes,
    document_attributes,
    draft_attributes,
)
from quintant.cluster.apiserver.handlers.before_write import restore_managed_fields
from quintant.cluster.apiserver.handlers.delete import DeleteResult, Deletes
from quintant.cluster.apiserver.handlers.delete_options import DeleteOptions
from quintant.cluster.apiserver.handlers.scale import SCALE, put_scale
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.handlers.write import WriteResult, Writes
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.metadata_rules import set_namespace
from quintant.cluster.apiserver.meta.status import internal_error
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.policy.reinvocation import MutatingAdmission
from quintant.cluster.apiserver.policy.validating import ValidatingPolicies
from quintant.cluster.apiserver.webhooks.attributes import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
)
from quintant.cluster.apiserver.webhooks.dispatcher import WebhookDispatcher
from quintant.cluster.apiserver.webhooks.registry import MatchedWebhook, WebhookRegistry
from quintant.core.resource import Resource

MakeDraft = Callable[[str], tuple[Draft, WriteOptions]]
"""Makes the draft of a write at a time from what is stored; nothing comes of it by itself."""
RETRIES = 10
"""How often a write is tried again that lacks what a controller is about to make."""
PAUSE_SECONDS = 0.1


class AdmittedWrites(msgspec.Struct, frozen=True):
    """The way of every change that somebody asks for."""

    registry: WebhookRegistry
    mutating: MutatingAdmission
    policies: ValidatingPolicies
    offload: Offload
    webhooks: WebhookDispatcher
    objects: ObjectStore
    writes: Writes
    deletes: Deletes

    async def write(self, drafted: MakeDraft, size: int) -> WriteResult:
        """Store what is drafted of so many bytes, again and again if somebody else was faster."""
        for _ in range(RETRIES):
            try:
                return await self._write(drafted, size)
            except RetryAdmission:
                await asyncio.sleep(PAUSE_SECONDS)
        return await self._write(drafted, size)

    async def _write(self, drafted: MakeDraft, size: int) -> WriteResult:
        while True:
            began = self.objects.revision
            try:
                drafting = partial(drafted, self.writes.now)
                draft, options = await self.offload.run(drafting, size)
            except ConversionNeeded as need:
                await need.convert()
                continue
            draft, ready = await self._admit(draft, options, size)
            # Nothing at all was written: that is so wherever nothing was waited for.
            if self.objects.revision == began or self.writes.is_current(draft, ready, options):
                return self.writes.store(ready, options)

    async def _admit(self, draft: Draft, options: WriteOptions, size: int) -> tuple[Draft, Draft]:
        """The draft after admission has changed it, and what is to be stored, found valid."""
        target, operation = draft.target, CREATE if draft.base is None else UPDATE
        matched = self.registry.matching(target.kind, target.subresource, operation)
        self.writes.admit(draft, options)
        draft = await self._mutate(matched, draft, options)
        self.writes.check_escalation(draft, options)
        prepared = await self.offload.run(partial(self.writes.prepare, draft, options), size)
        assigned = self.writes.assign(prepared)
        ready = await self.offload.run(partial(self.writes.validate, assigned), size)
        self.writes.check_admission(ready, options)
        if self.policies.concern(target.kind, target.subresource, operation):
            warnings = await self.policies.validate(draft_attributes(ready, options), size)
            ready = replace(ready, warnings=(*ready.warnings, *warnings))
        if matched:
            messages = await self.webhooks.validate(
                _validating(matched), draft_attributes(ready, options)
            )
            ready = replace(ready, warnings=(*ready.warnings, *messages))
        if (convert := target.kind.strategy.conversion.convert_for_write) is not None:
            await convert(ready.obj)
        return draft, ready

    async def delete(
        self, target: ObjectRef, options: DeleteOptions, *, named: bool = True
    ) -> DeleteResult:
        """Delete an object unless a webhook refuses; `named` if the request was about it alone."""
        reviews = self._reviews(target, DELETE)
        kept = replace(target, kind=target.kind.storage_kind or target.kind)
        convert = target.kind.strategy.conversion.convert_for_read
        if convert is not None:
            await convert((self.objects.get(target),))
        while reviews and self.deletes.needs_admission(kept, options):
            entry = self.objects.get(target)
            if convert is not None:
                await convert((entry,))
            old = stored_json.unpack(target.kind, entry)
            attributes = delete_attributes(target, old, options, named)
            _, warnings = await self._review(attributes)
            if self.objects.get(target).rv == entry.rv:
                deleted = self.deletes.delete(kept, options)
                return replace(deleted, warnings=tuple(warnings))
        return self.deletes.delete(kept, options)

    async def admit_document(
        self,
        target: ObjectRef,
        document: Resource,
        sent: Any,
        old: JsonObject | None,
        options: WriteOptions,
    ) -> tuple[Any, list[str]]:
        """A document that does something, such as a Binding, after webhooks have seen it."""
        operation = CREATE if old is None else UPDATE
        if not self._reviews(target, operation) or not isinstance(sent, dict):
            return sent, []
        attributes = document_attributes(target, document, sent, old, options)
        reviewed, warnings = await self._review(attributes)
        return reviewed.obj, warnings

    async def admit_connect(
        self, target: ObjectRef, document: Resource, options: JsonObject, user: User
    ) -> JsonObject:
        """What a connection is asked with, after webhooks have seen it, and denied it perhaps."""
        if not self._reviews(target, CONNECT):
            return options
        attributes = connect_attributes(target, document, options, user)
        reviewed, _ = await self._review(attributes)
        return reviewed.obj or {}

    async def _mutate(
        self, matched: Sequence[MatchedWebhook], draft: Draft, options: WriteOptions
    ) -> Draft:
        mutating, target = _mutating(matched), draft.target
        operation = CREATE if draft.base is None else UPDATE
        if not self.mutating.concerns(mutating, target.kind, target.subresource, operation):
            return draft
        before = draft_attributes(draft, options)

        def revise(sent: Any, *, strict: bool = False) -> JsonObject:
            if target.subresource == SCALE:
                return dict(sent)
            return _mutated(draft, sent, strict=strict).obj

        def again(obj: JsonObject) -> None:
            if target.subresource != SCALE:
                self.writes.admit(replace(draft, obj=obj), options)

        after, warnings = await self.mutating.admit(mutating, before, revise, again)
        warned = replace(draft, warnings=(*draft.warnings, *warnings))
        if after.obj is before.obj or after.obj is None:
            return warned
        if target.subresource == SCALE:
            put_scale(target.kind, draft.obj, after.obj)
            return warned
        warnings += restore_managed_fields(after.obj, draft.obj)
        return replace(draft, obj=after.obj, warnings=(*draft.warnings, *warnings))

    def _reviews(self, target: ObjectRef, operation: str) -> bool:
        """Whether a policy or a webhook is to be asked about an operation."""
        which = (target.kind, target.subresource, operation)
        matched = self.registry.matching(*which)
        return self.policies.concern(*which) or self.mutating.concerns(matched, *which)

    async def _review(self, attributes: Attributes) -> tuple[Attributes, list[str]]:
        """What is left of something that is not stored, after everybody was asked about it."""
        which = (attributes.kind, attributes.sub, attributes.operation)
        matched = self.registry.matching(*which)
        attributes, warnings = await self.mutating.admit(
            _mutating(matched), attributes, _sent_document, lambda obj: None
        )
        if self.policies.concern(*which):
            warnings += await self.policies.validate(attributes)
        warnings += await self.webhooks.validate(_validating(matched), attributes)
        return attributes, warnings


def _sent_document(sent: Any, *, strict: bool = False) -> JsonObject:
    return dict(sent)


def _mutated(draft: Draft, sent: Any, *, strict: bool) -> Draft:
    """The draft after another object was made of its own; CoercionError if it is none."""
    kind = draft.target.kind
    obj = sent_object(kind, sent)
    unknown = drop_unknown(kind, obj)
    if unknown and strict and not kind.custom:
        fields = ", ".join(f"unknown field {quoted(path)}" for path in unknown)
        raise internal_error(f"strict decoding error: {fields}")
    set_namespace(kind, obj, draft.target.namespace)
    kind.default(obj)
    return replace(draft, obj=obj)


def _mutating(matched: Sequence[MatchedWebhook]) -> list[MatchedWebhook]:
    return [each for each in matched if each.hook.mutating]


def _validating(matched: Sequence[MatchedWebhook]) -> list[MatchedWebhook]:
    return [each for each in matched if not each.hook.mutating]
