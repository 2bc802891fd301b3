"""Pure steps of the server's writes, remembered across the runs of a scenario.

Two runs differ by one fault, and most of what is written in them is the same to the byte, its
moment included. What is merged, defaulted, coerced and found valid once is known then by the digest
of everything that went in: the request, who sent it, the time, the kind and its schema, the object
as it was stored. A step that looked at anything else would not be remembered right; objects that
are converted between versions look at how their definition came about, and are worked out anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.handlers.write import PureSteps, ReadRequest
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject, ValidationResult
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.storage.history import StoredEntry

MOST_BYTES = 8 * 1024 * 1024
"""Of what is remembered of a scenario: some thousands of drafts."""
ENTRY_BYTES = 400
"""What an entry takes beside its object."""
DIGEST_BYTES = 16

T = TypeVar("T")


class BoundedMemo(Generic[T]):
    """What came of arguments, by their digest; what was not asked for longest is forgotten."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._known: OrderedDict[bytes, tuple[T, int]] = OrderedDict()
        self._left = most
        self.hits = 0
        """How often something was known."""

    def get(self, key: bytes) -> T | None:
        """What came of it, if that is known."""
        found = self._known.get(key)
        if found is None:
            return None
        self._known.move_to_end(key)
        self.hits += 1
        return found[0]

    def put(self, key: bytes, value: T, size: int) -> None:
        """Remember what came of it, of so many bytes."""
        self._known[key] = (value, size + ENTRY_BYTES)
        self._left -= size + ENTRY_BYTES
        while self._left < 0:
            _, (_, freed) = self._known.popitem(last=False)
            self._left += freed


class RememberedDraft(msgspec.Struct, frozen=True):
    """A draft without what belongs to one server, and its documents as texts."""

    draft: Draft
    options: WriteOptions
    obj: bytes
    live: bytes | None
    """What is stored, if drafting has completed it: an apply takes over parts, and adds defaults to
    them. None if it is as it was."""


class RememberedSteps(PureSteps):
    """Works each step out once."""

    def __init__(self) -> None:
        self.drafts: BoundedMemo[RememberedDraft] = BoundedMemo()
        self.results: BoundedMemo[ValidationResult] = BoundedMemo()

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
        base = objects.read(target)
        if not _follows(target.kind, base):
            return super().draft(read, objects, call, target, user, now)
        key = _draft_key(read, call, target, user, now, base)
        known = self.drafts.get(key)
        if known is not None:
            return _made(known, target, base), known.options
        draft, options = super().draft(read, objects, call, target, user, now)
        if draft.base is not base or options.field_validation.merged is not None:
            return draft, options
        known = _remembered(draft, options)
        self.drafts.put(key, known, len(known.obj) + len(known.live or b""))
        return _made(known, target, base), options

    def validate(
        self, kind: Kind, obj: JsonObject, live: JsonObject | None = None, sub: str = ""
    ) -> ValidationResult:
        """What is wrong with an object, and what its author should know; it stays as it is."""
        key = digest_of((identity(kind), obj, live, sub))
        known = self.results.get(key)
        if known is None:
            known = super().validate(kind, obj, live, sub)
            if not known.errors:
                self.results.put(key, known, sum(map(len, known.warnings)))
        return known


def identity(kind: Kind) -> tuple[Any, ...]:
    """What is all there is to a kind that is not converted: the same in every server."""
    schema = b"" if kind.schema is None else kind.schema.digest
    return kind.custom, kind.resource, schema, kind.scale


def digest_of(arguments: Any) -> bytes:
    """The digest of arguments, and of nothing else: what differs in them differs in it."""
    return blake2b(msgspec.msgpack.encode(arguments), digest_size=DIGEST_BYTES).digest()


def _draft_key(
    read: ReadRequest,
    call: ApiRequest,
    target: ObjectRef,
    user: User,
    now: str,
    base: StoredEntry | None,
) -> bytes:
    names = (target.namespace, target.name, target.subresource)
    stored = None if base is None else (base.rv, base.raw)
    sent = (read.__qualname__, _items(call.query), _items(call.headers), call.body)
    return digest_of((identity(target.kind), names, stored, sent, user, now))


def _items(pairs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(pairs.items())


def _follows(kind: Kind, base: StoredEntry | None) -> bool:
    """Whether what is stored is shown as it is, so that its text tells everything."""
    conversion = kind.strategy.conversion
    converted = conversion.from_storage or conversion.convert_for_read
    return not converted and (base is None or base.rv > conversion.outdated_until)


def _remembered(draft: Draft, options: WriteOptions) -> RememberedDraft:
    bare = replace(draft, obj={}, base=None, live=None)
    live = None
    if draft.live is not None:
        after, before = msgspec.json.encode(draft.live), _stored(draft.target, draft.base)
        live = after if after != msgspec.json.encode(before) else None
    return RememberedDraft(bare, options, msgspec.json.encode(draft.obj), live)


def _made(known: RememberedDraft, target: ObjectRef, base: StoredEntry | None) -> Draft:
    """The draft, with documents that nobody else has: so it is whether or not it was known."""
    obj = msgspec.json.decode(known.obj)
    live = _stored(target, base) if known.live is None else msgspec.json.decode(known.live)
    return replace(known.draft, target=target, obj=obj, base=base, live=live)


def _stored(target: ObjectRef, base: StoredEntry | None) -> JsonObject | None:
    return None if base is None else stored_json.unpack(target.kind, base)
