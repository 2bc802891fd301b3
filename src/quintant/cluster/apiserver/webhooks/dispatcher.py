"""mutatingDispatcher, validatingDispatcher: webhooks in order, and their failurePolicy.

A mutating webhook that asks for it is asked once more when another changed the object after it.
What a webhook says beside its verdict is kept for the author of the change, allowed or not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from quintant.cluster.apiserver.go_types.coerce import CoercionError
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.status import StatusError, internal_error, unknown_error
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.patch.json_patch import (
    InapplicableOperation,
    apply_operations,
    inapplicable,
)
from quintant.cluster.apiserver.webhooks.admission_review import request_of
from quintant.cluster.apiserver.webhooks.attributes import Attributes
from quintant.cluster.apiserver.webhooks.call import WebhookCallError, WebhookClient
from quintant.cluster.apiserver.webhooks.configuration import IGNORE, ConfiguredWebhook
from quintant.cluster.apiserver.webhooks.matcher import Matcher
from quintant.cluster.apiserver.webhooks.registry import MatchedWebhook
from quintant.cluster.apiserver.webhooks.response import ReviewResponse, denied_by_webhook
from quintant.cluster.apiserver.webhooks.versioned_attributes import (
    convert_version,
    versioned_object,
)
from quintant.core.clock import Random


class Revise(Protocol):
    """From what a policy or a webhook made of an object to that object, completed again."""

    def __call__(self, sent: Any, *, strict: bool = False) -> JsonObject:
        """An object of its kind; CoercionError if it is none, 500 if `strict` and it has more."""


class WebhookRound(msgspec.Struct, frozen=True):
    """A change after each mutating webhook was asked once."""

    attributes: Attributes
    reinvocable: tuple[MatchedWebhook, ...]
    """Those that were asked, and may be asked again."""
    due: tuple[MatchedWebhook, ...]
    """Those of them after which another one changed the object."""


class WebhookDispatcher:
    """Asks the webhooks that a change concerns."""

    def __init__(
        self, caller: WebhookClient, matcher: Matcher, random: Random, offload: Offload
    ) -> None:
        self._caller, self._matcher, self._random = caller, matcher, random
        self._offload = offload

    async def admit(
        self,
        matched: Sequence[MatchedWebhook],
        attributes: Attributes,
        revise: Revise,
        warnings: list[str],
    ) -> WebhookRound:
        """The change after every mutating webhook has seen it; what they say is added."""
        seen: list[MatchedWebhook] = []
        due: list[MatchedWebhook] = []
        for webhook in matched:
            before = attributes.obj
            attributes, called = await self._mutated(webhook, attributes, revise, warnings)
            if attributes.obj is not before:
                due = list(seen)
            if called and webhook.hook.reinvoked:
                seen.append(webhook)
        return WebhookRound(attributes, tuple(seen), tuple(due))

    async def readmit(
        self, previous: WebhookRound, attributes: Attributes, revise: Revise, warnings: list[str]
    ) -> Attributes:
        """The same after those have seen it again that ask for it where others changed it."""
        unchanged = attributes.obj == previous.attributes.obj
        for webhook in previous.due if unchanged else previous.reinvocable:
            attributes, _ = await self._mutated(webhook, attributes, revise, warnings)
        return attributes

    async def validate(
        self, matched: Sequence[MatchedWebhook], attributes: Attributes
    ) -> list[str]:
        """What validating webhooks tell a change's author; StatusError if one does not allow it."""
        warnings: list[str] = []
        calls = (self._call(each.hook, each.kind, attributes, warnings) for each in matched)
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, StatusError):
                raise outcome.with_warnings(*warnings)
            if isinstance(outcome, BaseException):
                raise outcome
        return warnings

    async def _mutated(
        self, webhook: MatchedWebhook, attributes: Attributes, revise: Revise, warnings: list[str]
    ) -> tuple[Attributes, bool]:
        """The change after a webhook has seen it, and whether it was asked."""
        hook, kind = webhook.hook, webhook.kind
        try:
            answer = await self._call(hook, kind, attributes, warnings)
            if answer is None or not answer.patch or attributes.obj is None:
                return attributes, answer is not None
            obj = await self._revised(kind, attributes, answer.patch, revise)
        except CoercionError as error:
            raise internal_error(str(error)).with_warnings(*warnings) from None
        except StatusError as problem:
            raise problem.with_warnings(*warnings) from None
        return (replace(attributes, obj=obj) if obj != attributes.obj else attributes), True

    async def _revised(
        self, kind: Kind, attributes: Attributes, patch: Sequence[JsonObject], revise: Revise
    ) -> JsonObject:
        """An object after a webhook's patch, as the kind of the request."""
        shown = await versioned_object(attributes, kind, attributes.obj) or {}
        written = msgspec.json.encode(shown)
        size = len(written) * len(patch)
        changed = await self._offload.run(partial(_patched, shown, written, patch), size)
        if kind is not attributes.kind:
            changed = await convert_version(kind, attributes.kind, changed)
        return await self._offload.run(partial(revise, changed), len(written))

    async def _call(
        self, hook: ConfiguredWebhook, kind: Kind, attributes: Attributes, warnings: list[str]
    ) -> ReviewResponse | None:
        """A webhook's word, if it allows the change; None if it was not asked or may fail."""
        request = request_of(attributes, kind, self._random.id())
        wants = partial(self._matcher.matches, hook, attributes, request)
        if not await self._offload.run(wants, 0):
            return None
        shown = [
            await versioned_object(attributes, kind, obj)
            for obj in (attributes.obj, attributes.old)
        ]
        try:
            answer = await self._caller.call(hook, request, *shown)
        except WebhookCallError as failed:
            if hook.failure_policy == IGNORE:
                return None
            raise failed.status_error from None
        warnings += [text for text in answer.warnings if text.isprintable()]
        if not answer.allowed:
            raise denied_by_webhook(hook.name, answer.status)
        return answer


def _patched(document: JsonObject, written: bytes, patch: Sequence[JsonObject]) -> Any:
    """An object after a webhook's patch."""
    try:
        changed = apply_operations(msgspec.json.decode(written), patch)
    except InapplicableOperation as error:
        raise internal_error(inapplicable(error.operation)) from None
    _check_kind(changed, document)
    return changed


def _check_kind(changed: Any, before: JsonObject) -> None:
    document = changed if isinstance(changed, dict) else {}
    wrong = [name for name in ("apiVersion", "kind") if document.get(name) != before.get(name)]
    if wrong:
        here, there = (
            f"({each.get('apiVersion')}.{each.get('kind')})" for each in (document, before)
        )
        raise unknown_error(f"converting {here} to {there}: unknown conversion")
