"""Writes and deletions as somebody asks for them: with webhooks, and begun anew when overtaken.

Where webhooks are asked, or what is written is large (quintant.cluster.apiserver.offload.pool), a
write is no longer one step. When it comes to storing, the live object may be another one than the
draft was made from; then everything begins anew, with a new draft, as in the loop of a real server
(GuaranteedUpdate): a PUT for another state ends with 409, a patch is redone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from quintant.cluster.apiserver.admission.plugins.service_account import RetryAdmission
from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.crd.conversion_webhook import ConversionNeeded
from quintant.cluster.apiserver.handlers.delete import DeleteOptions, DeleteResult, Deletes
from quintant.cluster.apiserver.handlers.draft import mutated
from quintant.cluster.apiserver.handlers.prepare import restore_managed_fields
from quintant.cluster.apiserver.handlers.scale import DOCUMENT, SCALE, put_scale, view_scale
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.handlers.write import WriteResult, Writes
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.webhooks.attributes import CREATE, DELETE, UPDATE, Attributes
from quintant.cluster.apiserver.webhooks.dispatcher import WebhookDispatcher
from quintant.cluster.apiserver.webhooks.registry import MatchedWebhook, WebhookRegistry
from quintant.core.resource import Resource

MakeDraft = Callable[[str], tuple[Draft, WriteOptions]]
"""Makes the draft of a write at a time from what is stored; nothing comes of it by itself."""
RETRIES = 10
"""How often a write is tried again that lacks what a controller is about to make."""
PAUSE_SECONDS = 0.1
_OPTIONS = {CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions"}


class AdmittedWrites(msgspec.Struct, frozen=True):
    """The way of every change that somebody asks for."""

    registry: WebhookRegistry
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
        shaped = await self.offload.run(partial(self.writes.prepare, draft), size)
        named = self.writes.authorize_and_name(shaped, options)
        ready = await self.offload.run(partial(self.writes.validate, named), size)
        if matched:
            told = await self.webhooks.validate(_validating(matched), _attributes(ready, options))
            ready = replace(ready, warnings=(*ready.warnings, *told))
        if (convert := target.kind.strategy.conversion.convert_for_write) is not None:
            await convert(ready.obj)
        return draft, ready

    async def delete(
        self, target: ObjectRef, options: DeleteOptions, *, named: bool = True
    ) -> DeleteResult:
        """Delete an object unless a webhook refuses; `named` if the request was about it alone."""
        matched = self.registry.matching(target.kind, target.subresource, DELETE)
        kept = replace(target, kind=target.kind.storage_kind or target.kind)
        convert = target.kind.strategy.conversion.convert_for_read
        if convert is not None:
            await convert((self.objects.get(target),))
        while matched and self.deletes.needs_admission(kept, options):
            entry = self.objects.get(target)
            if convert is not None:
                await convert((entry,))
            attributes = _deletion(target, stored_json.unpack(target.kind, entry), options, named)
            _, warnings = await self._review(matched, attributes)
            if self.objects.get(target).rv == entry.rv:
                deleted = self.deletes.delete(kept, options)
                return replace(deleted, warnings=tuple(warnings))
        return self.deletes.delete(kept, options)

    async def admit_document(
        self,
        target: ObjectRef,
        sort: Resource,
        sent: Any,
        old: JsonObject | None,
        options: WriteOptions,
    ) -> tuple[Any, list[str]]:
        """A document that does something, such as a Binding, after webhooks have seen it."""
        operation = CREATE if old is None else UPDATE
        matched = self.registry.matching(target.kind, target.subresource, operation)
        if not matched or not isinstance(sent, dict):
            return sent, []
        attributes = Attributes(
            operation,
            target.kind,
            sort,
            _namespace(target),
            target.name,
            target.subresource,
            options.user,
            _whole(target, sort, sent),
            old,
            _said(operation, options.raw),
            options.dry_run,
        )
        reviewed, told = await self._review(matched, attributes)
        return reviewed.obj, told

    async def _mutate(
        self, matched: Sequence[MatchedWebhook], draft: Draft, options: WriteOptions
    ) -> Draft:
        mutating = _mutating(matched)
        if not mutating:
            return draft
        target, before = draft.target, _attributes(draft, options)

        def revise(sent: Any) -> JsonObject:
            if target.subresource == SCALE:
                return dict(sent)
            return mutated(draft, sent).obj

        def again(obj: JsonObject) -> None:
            if target.subresource != SCALE:
                self.writes.admit(replace(draft, obj=obj), options)

        after, told = await self.webhooks.mutate(mutating, before, revise, again)
        warned = replace(draft, warnings=(*draft.warnings, *told))
        if after.obj is before.obj or after.obj is None:
            return warned
        if target.subresource == SCALE:
            put_scale(target.kind, draft.obj, after.obj)
            return warned
        told += restore_managed_fields(after.obj, draft.obj)
        return replace(draft, obj=after.obj, warnings=(*draft.warnings, *told))

    async def _review(
        self, matched: Sequence[MatchedWebhook], attributes: Attributes
    ) -> tuple[Attributes, list[str]]:
        """What is left of something that is not stored, after everybody was asked about it."""
        attributes, told = await self.webhooks.mutate(
            _mutating(matched), attributes, dict, lambda obj: None
        )
        told += await self.webhooks.validate(_validating(matched), attributes)
        return attributes, told


def _deletion(
    target: ObjectRef, old: JsonObject, options: DeleteOptions, named: bool
) -> Attributes:
    return Attributes(
        DELETE,
        target.kind,
        target.kind.resource,
        _namespace(target),
        target.name if named else "",
        "",
        options.user,
        old=old,
        options=_said(DELETE, options.raw),
        dry_run=options.dry_run,
    )


def _whole(target: ObjectRef, sort: Resource, sent: JsonObject) -> JsonObject:
    """A document that does something, with what webhooks are told of where it does it."""
    place = {"name": target.name, "namespace": target.namespace}
    given = {key: value for key, value in place.items() if value}
    metadata = {**given, **(sent.get("metadata") or {})}
    metadata.pop("managedFields", None)
    return {**sent, "kind": sort.kind, "apiVersion": sort.api_version, "metadata": metadata}


def _attributes(draft: Draft, options: WriteOptions) -> Attributes:
    target, operation = draft.target, CREATE if draft.base is None else UPDATE
    obj, old, document = draft.obj, draft.live, target.kind.resource
    if target.subresource == SCALE:
        document, obj = DOCUMENT, view_scale(target.kind, obj)
        old = None if old is None else view_scale(target.kind, old)
    target = replace(target, name=target.name or draft.obj["metadata"].get("name", ""))
    return Attributes(
        operation,
        target.kind,
        document,
        _namespace(target),
        target.name,
        target.subresource,
        options.user,
        obj,
        old,
        _said(operation, options.raw),
        options.dry_run,
    )


def _namespace(target: ObjectRef) -> str:
    """The namespace of a change; a namespace itself lies in itself."""
    where = target.kind.resource
    own = where.plural == "namespaces" and not where.group
    return target.name if own else target.namespace


def _said(operation: str, said: Mapping[str, Any]) -> JsonObject:
    return {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1", **said}


def _mutating(matched: Sequence[MatchedWebhook]) -> list[MatchedWebhook]:
    return [each for each in matched if each.hook.mutating]


def _validating(matched: Sequence[MatchedWebhook]) -> list[MatchedWebhook]:
    return [each for each in matched if not each.hook.mutating]
