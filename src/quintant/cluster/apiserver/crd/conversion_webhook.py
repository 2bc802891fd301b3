"""webhookConverter, ConversionReview: a conversion webhook shows one version as another.

Whoever shows or stores objects does so at once, without waiting; a webhook takes its time. So what
is not known yet raises `ConversionNeeded`, and whoever can wait has it converted (`convert`) and
begins again. What was converted is remembered by its content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import msgspec

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.status import unknown_error
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.webhooks.call import WebhookClient
from quintant.cluster.apiserver.webhooks.configuration import WebhookTarget
from quintant.cluster.apiserver.webhooks.dialer import WebhookUnreachable
from quintant.cluster.apiserver.webhooks.http_reply import NoDocument, read_document
from quintant.core.clock import Random

GROUP = "apiextensions.k8s.io"
KIND = "ConversionReview"
TIMEOUT_SECONDS = 30
REMEMBERED = 10_000
"""Objects remembered per definition; when there are more, the oldest are forgotten."""
_DIGEST_BYTES = 16
_OPEN = ("labels", "annotations")
"""The metadata that a conversion may change."""


class ConversionNeeded(Exception):
    """An object has to be converted first."""

    def __init__(self, converter: Converter, obj: JsonObject, version: str) -> None:
        super().__init__(f"not converted to {version} yet")
        self.converter = converter
        self.obj = obj
        self.version = version

    async def convert(self) -> None:
        """Convert it; StatusError if that fails."""
        await self.converter.convert([self.obj], self.version)


@dataclass(slots=True)
class Converter:
    """The conversion webhook of one definition."""

    client: WebhookTarget
    review: str
    caller: WebhookClient
    random: Random
    _known: dict[tuple[str, bytes], JsonObject] = field(default_factory=dict, repr=False)

    def converted(self, obj: JsonObject, version: str) -> JsonObject:
        """An object as a version (with its group) has it, fresh; ConversionNeeded if unknown."""
        found = self._known.get((version, _digest(obj)))
        if found is None:
            raise ConversionNeeded(self, obj, version)
        return _restored(obj, found)

    async def convert(self, objects: Sequence[JsonObject], version: str) -> None:
        """Ask the webhook, and remember what it says; StatusError if it does not do its work."""
        sent = [_bare(obj) for obj in objects]
        what = f"conversion webhook for {sent[0]['apiVersion']}, Kind={sent[0]['kind']}"
        converted = await self._post_review(sent, version, what)
        if len(converted) != len(sent):
            raise unknown_error(f"{what} returned {len(converted)} objects, expected {len(sent)}")
        for at, (obj, result) in enumerate(zip(sent, converted, strict=True)):
            _check(obj, result, version, what, at)
            self._known[version, _digest(obj)] = result
        while len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    async def _post_review(
        self, objects: list[JsonObject], version: str, what: str
    ) -> list[JsonObject]:
        uid = self.random.id()
        request = {"uid": uid, "desiredAPIVersion": version, "objects": objects}
        head = {"kind": KIND, "apiVersion": f"{GROUP}/{self.review}"}
        body = msgspec.json.encode({**head, "request": request})
        try:
            review = read_document(await self.caller.post(self.client, body, TIMEOUT_SECONDS))
        except (WebhookUnreachable, NoDocument) as error:
            raise unknown_error(f"{what} failed: {error}") from None
        if review.get("response") is None:
            raise unknown_error(f"{what} failed: no response provided")
        try:
            response = msgspec.convert(review["response"], _Response)
        except msgspec.ValidationError as error:
            raise unknown_error(f"{what} failed: {error}") from None
        if why := _failure(response, uid):
            raise unknown_error(f"{what} failed: {why}")
        return response.converted_objects or []


async def convert_for_read(kind: Kind, entries: Iterable[StoredEntry]) -> None:
    """Make sure that entries can be shown as a kind, by one review for all of them."""
    needs: dict[str, list[ConversionNeeded]] = {}
    for entry in entries:
        try:
            stored_json.unpack(kind, entry)
        except ConversionNeeded as need:
            needs.setdefault(need.obj["apiVersion"], []).append(need)
    for found in needs.values():
        await found[0].converter.convert([need.obj for need in found], found[0].version)


async def convert_for_write(kind: Kind, obj: JsonObject) -> None:
    """Make sure that an object of a kind can be stored."""
    try:
        stored_json.pack(kind, obj)
    except ConversionNeeded as need:
        await need.convert()


class _Result(msgspec.Struct, frozen=True):
    status: str | None = None
    message: str | None = None


class _Response(msgspec.Struct, frozen=True, rename="camel"):
    uid: str | None = None
    result: _Result | None = None
    converted_objects: list[JsonObject] | None = None


def _failure(response: _Response, uid: str) -> str:
    """Why a response is none; empty if it is one."""
    if response.uid != uid:
        return f'expected response.uid="{uid}", got "{response.uid or ""}"'
    result = response.result or _Result()
    if result.status == "Success":
        return ""
    return result.message or f"response.result.status was '{result.status or ''}', not 'Success'"


def _check(obj: JsonObject, result: Any, version: str, what: str, at: int) -> None:
    """A conversion gives the same object, of the version that was asked for."""
    found = result if isinstance(result, dict) else {}
    prefix = f"{what} returned invalid object at index {at}"
    if (received := found.get("apiVersion")) != version:
        raise unknown_error(
            f"{prefix}: invalid groupVersion (expected {version}, received {received})"
        )
    if (received := found.get("kind")) != obj["kind"]:
        raise unknown_error(f"{prefix}: invalid kind (expected {obj['kind']}, received {received})")
    before, after = obj["metadata"], found.get("metadata")
    if not isinstance(after, dict) or not all(map(_is_text_map, map(after.get, _OPEN))):
        raise unknown_error(f"{prefix}: invalid metadata")
    for name, word in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        one, other = before.get(name, ""), after.get(name, "")
        if one != other:
            text = f"must have the same {word}: {one} != {other}"
            raise unknown_error(f"{what} returned invalid object: {text}")


def _is_text_map(value: Any) -> bool:
    """Whether a value can be labels or annotations."""
    if value is None:
        return True
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _bare(obj: JsonObject) -> JsonObject:
    """An object without its revision, which says nothing about its content."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}
    return {**obj, "metadata": metadata}


def _restored(obj: JsonObject, converted: JsonObject) -> JsonObject:
    """What was converted, with the metadata that it must not have changed."""
    fresh: JsonObject = msgspec.json.decode(msgspec.json.encode(converted))
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _OPEN}
    changed = fresh["metadata"]
    metadata |= {name: changed[name] for name in _OPEN if changed.get(name)}
    return {**fresh, "metadata": metadata}


def _digest(obj: JsonObject) -> bytes:
    raw = msgspec.json.encode(_bare(obj), order="sorted")
    return blake2b(raw, digest_size=_DIGEST_BYTES).digest()
