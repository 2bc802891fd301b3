"""What a previewed manager talks to: the copy, which has whatever a call is about by then."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct, field

from quintant.client.request_info import ResourcePath, resource_path, verb_of
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.preview.cluster_copy import UNCOPIED, ClusterCopy
from quintant.preview.dry_run import DryRun
from quintant.preview.live_reader import LiveRefusal

READING = ("get", "list", "watch")
WHOLE = ("list", "watch", "deletecollection")
"""Verbs that are about every object of a collection."""
TOO_MANY_REQUESTS = 429


class PreviewedWrite(Struct, frozen=True):
    """A write that the manager made, and what the copy answered."""

    verb: str
    target: str
    """Resource, namespace and name, as far as the call says them."""
    status: int
    message: str = ""
    """Why it was refused, if it was."""


class _Named(Struct):
    name: str = ""


class _Body(Struct):
    metadata: _Named = field(default_factory=_Named)
    message: str = ""


class PreviewTransport:
    """A Transport whose reads come from a cluster, and whose writes stay here."""

    def __init__(self, copy: ClusterCopy, most_writes: int, dry_run: DryRun | None = None) -> None:
        self.writes: list[PreviewedWrite] = []
        self._copy, self._most, self._dry_run = copy, most_writes, dry_run

    @property
    def exhausted(self) -> bool:
        """Whether the manager wrote more often than it may."""
        return len(self.writes) >= self._most

    async def request(self, call: ApiRequest) -> ApiResponse:
        if call.fence is not None:
            call.fence(call)
        verb, path = verb_of(call), resource_path(call.path)
        if verb not in READING and self.exhausted:
            return ApiResponse(TOO_MANY_REQUESTS, b"", {"retry-after": "3600"})
        kind = self._copy.server.catalog.find(path.group, path.version, path.plural)
        if call.method == "GET" and (kind is None or kind.computed):
            return await self._copy.live.ask(call)
        try:
            await self._provide(call, verb, path, kind)
        except LiveRefusal as refused:
            return refused.reply
        if verb in READING or (path.group, path.plural) in UNCOPIED:
            return await self._copy.server.request(call)
        reply = await self._refusal(call, verb, path, kind)
        if reply is None:
            reply = await self._copy.server.request(call)
            if self._dry_run is not None and reply.status < 300:
                self._dry_run.happened(verb, path, path.name or _name_in(call))
        self.writes.append(_written(call, verb, path, reply))
        return reply

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        path = resource_path(call.path)
        kind = self._copy.server.catalog.find(path.group, path.version, path.plural)
        try:
            await self._provide(call, verb_of(call), path, kind)
        except LiveRefusal as refused:
            yield ApiStream(refused.reply.status, _once(refused.reply.body))
            return
        async with self._copy.server.stream(call) as stream:
            yield stream

    async def close(self) -> None:
        """Nothing to release: the live cluster's transport is its owner's."""

    async def _refusal(
        self, call: ApiRequest, verb: str, path: ResourcePath, kind: Kind | None
    ) -> ApiResponse | None:
        """What the live cluster would refuse a write with, if it is asked and would."""
        if self._dry_run is None or kind is None or kind.create_only:
            return None
        return await self._dry_run.refusal(call, verb, path, path.name or _name_in(call))

    async def _provide(
        self, call: ApiRequest, verb: str, path: ResourcePath, kind: Kind | None
    ) -> None:
        """Have what a call is about."""
        if kind is None or kind.create_only or kind.computed:
            return
        namespace = path.namespace if kind.resource.namespaced else ""
        if namespace and verb not in READING:
            await self._copy.provide_namespace(namespace)
        if verb in WHOLE:
            await self._copy.provide_collection(kind, namespace)
        elif name := path.name or _name_in(call):
            await self._copy.provide_object(kind, namespace, name)


def _name_in(call: ApiRequest) -> str:
    """The name of an object that is to be created; empty if the server makes one up."""
    return _body(call.body).metadata.name


def _written(call: ApiRequest, verb: str, path: ResourcePath, reply: ApiResponse) -> PreviewedWrite:
    name = path.name or _name_in(call) or "…"
    key = f"{path.namespace}/{name}" if path.namespace else name
    target = f"{path.plural}{f'.{path.group}' if path.group else ''} {key}"
    message = "" if reply.status < 300 else _body(reply.body).message
    return PreviewedWrite(
        verb, f"{target}{f' ({path.sub})' if path.sub else ''}", reply.status, message
    )


def _body(raw: bytes | None) -> _Body:
    try:
        return msgspec.json.decode(raw or b"{}", type=_Body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _Body()


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
