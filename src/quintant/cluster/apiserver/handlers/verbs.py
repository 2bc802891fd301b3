"""registerResourceHandlers: the verbs of a resource: from a routed request to an answer.

Between the server, which knows who asks, and the read and write paths, which know only values:
what a client may say in headers and query parameters is understood here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import structs
from msgspec.structs import replace

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.list_options import read_list_options
from quintant.cluster.apiserver.codec.size import request_cost, selector_cost
from quintant.cluster.apiserver.codec.write_options import WriteOptions, read_action
from quintant.cluster.apiserver.handlers.admitted_write import AdmittedWrites
from quintant.cluster.apiserver.handlers.create import read_create_request
from quintant.cluster.apiserver.handlers.delete import orphan_warnings
from quintant.cluster.apiserver.handlers.delete_options import (
    DeleteOptions,
    read_delete_options,
    read_delete_request,
)
from quintant.cluster.apiserver.handlers.eviction import Evictions
from quintant.cluster.apiserver.handlers.get_list import Reads, list_metadata, watch_filter
from quintant.cluster.apiserver.handlers.patch import read_patch_request
from quintant.cluster.apiserver.handlers.resource import (
    check_method,
    check_watch_method,
    resource_verbs,
    target_of,
)
from quintant.cluster.apiserver.handlers.scale import SCALE, SCALES, scale_of
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.handlers.subresources import (
    EVICTIONS,
    SubresourceAction,
    action,
    is_eviction,
)
from quintant.cluster.apiserver.handlers.update import read_update_request
from quintant.cluster.apiserver.handlers.write import PureSteps, ReadRequest
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.stored_json import ObjectEncoder
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import StatusError, method_not_supported
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.meta.warnings import warning_headers
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.response.encoder import encoder_for, negotiate_for
from quintant.cluster.apiserver.response.list_stream import ListStream
from quintant.cluster.apiserver.response.success import created_status, deleted_status
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.watch.events import WatchFilter
from quintant.cluster.apiserver.watch.hub import Watcher, WatchHub
from quintant.core.clock import Clock, timestamp
from quintant.core.resource import Resource

OK = 200
CREATED = 201
ACCEPTED = 202
READERS: Mapping[str, ReadRequest] = {
    "create": read_create_request,
    "update": read_update_request,
    "patch": read_patch_request,
}
"""What makes a draft of the request of a verb."""
SLICE = 100
"""Objects of a collection deleted between two turns of the loop."""


class ResourceHandlers(msgspec.Struct, frozen=True):
    """What a resource answers to each verb."""

    objects: ObjectStore
    hub: WatchHub
    reads: Reads
    admission: AdmittedWrites
    evictions: Evictions
    clock: Clock
    offload: Offload
    steps: PureSteps

    async def handle(
        self, call: ApiRequest, route: RequestInfo, kind: Kind, user: User
    ) -> ApiResponse | ListStream:
        """The answer to anything but a watch; it has happened when this returns."""
        check_method(call)
        if not kind.deprecation_warning:
            return await self._answer(call, route, kind, user)
        try:
            reply = await self._answer(call, route, kind, user)
        except StatusError as error:
            raise error.with_warnings(kind.deprecation_warning, first=True) from None
        return replace(reply, headers=warning_headers((kind.deprecation_warning,), reply.headers))

    async def _answer(
        self, call: ApiRequest, route: RequestInfo, kind: Kind, user: User
    ) -> ApiResponse | ListStream:
        negotiate_for(call, kind, listing=route.verb == "list")
        if route.verb == "list":
            return await self._list(call, route, kind)
        if route.verb == "deletecollection":
            if route.verb not in resource_verbs(kind):
                raise method_not_supported()
            return await self._delete_collection(call, route, kind, user)
        target, doing = target_of(route, kind), action(kind, route.subresource)
        if doing is not None:
            return await self._run_action(call, target, doing, user)
        if is_eviction(kind, route.subresource):
            return await self._evict(call, target, user)
        if bool(route.name) is (route.verb == "create"):
            raise method_not_supported()
        if route.verb == "get":
            return await self._get(call, target)
        if route.verb == "delete":
            return await self._delete(call, target, user)
        return await self._write(call, target, route.verb, user)

    async def watch(self, call: ApiRequest, route: RequestInfo, kind: Kind) -> Watcher:
        """An open watch; its owner must have the hub forget it."""
        check_watch_method(call)
        encoder = encoder_for(call, kind, self.clock, watching=True)
        selection = await self._filter(call, route, encoder)
        options = self.reads.watch_options(selection, read_list_options(call.query, watch=True))
        return self.hub.open(selection, options)

    async def _list(
        self, call: ApiRequest, route: RequestInfo, kind: Kind
    ) -> ApiResponse | ListStream:
        encoder = encoder_for(call, kind, self.clock, listing=True)
        selection = await self._filter(call, route, encoder)
        found = await self.reads.list(selection, read_list_options(call.query, watch=False))
        return found if isinstance(found, ListStream) else ApiResponse(OK, found)

    async def _filter(
        self, call: ApiRequest, route: RequestInfo, encoder: ObjectEncoder
    ) -> WatchFilter:
        target = target_of(route, encoder.kind)
        selecting = partial(watch_filter, encoder, target.namespace, target.name, call.query)
        return await self.offload.run(selecting, selector_cost(call))

    async def _get(self, call: ApiRequest, target: ObjectRef) -> ApiResponse:
        self.reads.check_get(call.query.get("resourceVersion", ""))
        return await self._respond(call, target, self.objects.get(target))

    async def _write(
        self, call: ApiRequest, target: ObjectRef, verb: str, user: User
    ) -> ApiResponse:
        if verb not in READERS:
            raise method_not_supported()
        found = self.objects.read(target)
        live = 0 if found is None else len(found.raw)
        size = request_cost(call) + target.kind.request_cost + live
        drafting = partial(self.steps.draft, READERS[verb], self.objects, call, target, user)
        result = await self.admission.write(drafting, size)
        code = CREATED if result.created else OK
        return await self._respond(call, target, result.entry, code, result.warnings)

    async def _run_action(
        self, call: ApiRequest, target: ObjectRef, doing: SubresourceAction, user: User
    ) -> ApiResponse:
        creates = doing.verb == "create"
        words = "CreateOptions" if creates else "UpdateOptions"
        sent, options = await self._read(call, doing.document, words, user)
        old = None if creates else stored_json.unpack(target.kind, self.objects.get(target))
        sent, warnings = await self.admission.admit_document(
            target, doing.document, sent, old, options
        )
        edit = doing.edit(target, sent, timestamp(self.clock.now()))
        entry = self.objects.update_raw(target, edit, dry_run=options.dry_run)
        if doing.answers_object:
            return await self._respond(call, target, entry, warnings=warnings)
        return created_status(warnings)

    async def _evict(self, call: ApiRequest, target: ObjectRef, user: User) -> ApiResponse:
        sent, written = await self._read(call, EVICTIONS, "CreateOptions", user)
        sent, warnings = await self.admission.admit_document(target, EVICTIONS, sent, None, written)
        request = sent.get("deleteOptions") if isinstance(sent, dict) else None
        options = read_delete_options(request or {}, {}, user)
        options = structs.replace(options, dry_run=options.dry_run or written.dry_run)
        pod = structs.replace(target, subresource="")
        self.evictions.evict(pod, sent, options, timestamp(self.clock.now()))
        return created_status(warnings)

    async def _read(
        self, call: ApiRequest, wanted: Resource, words: str, user: User
    ) -> tuple[Any, WriteOptions]:
        """A document that does something, and what is said beside it."""
        return await self.offload.run(
            partial(read_action, call, wanted, words, user), request_cost(call)
        )

    async def _read_delete_options(self, call: ApiRequest, user: User) -> DeleteOptions:
        return await self.offload.run(partial(read_delete_request, call, user), request_cost(call))

    async def _delete(self, call: ApiRequest, target: ObjectRef, user: User) -> ApiResponse:
        options = await self._read_delete_options(call, user)
        deleted = await self.admission.delete(target, options)
        warnings = [*orphan_warnings(target.kind, options), *deleted.warnings]
        if deleted.gone and not target.kind.strategy.delete.returns_object:
            return ApiResponse(OK, deleted_status(target, deleted.entry), warning_headers(warnings))
        waiting = options.accepted and not deleted.gone
        code = ACCEPTED if waiting else OK
        last = structs.replace(deleted.entry, rv=deleted.rv or deleted.entry.rv)
        return await self._respond(call, target, last, code, warnings)

    async def _delete_collection(
        self, call: ApiRequest, route: RequestInfo, kind: Kind, user: User
    ) -> ApiResponse:
        encoder = encoder_for(call, kind, self.clock, listing=True)
        selection = await self._filter(call, route, encoder)
        options = await self._read_delete_options(call, user)
        items: list[bytes] = []
        warnings = orphan_warnings(kind, options)
        found = list(self.objects.scan(kind, selection.prefix))
        await selection.prepare(entry for _, entry in found)
        for at, (target, entry) in enumerate(found):
            if selection.matches(target.key, entry) and self.objects.read(target) is not None:
                deleted = await self.admission.delete(target, options, named=False)
                if (convert := kind.strategy.conversion.convert_for_read) is not None:
                    await convert((entry,))
                items.append(encoder.encode_item(entry))
                warnings += deleted.warnings
            if at % SLICE == SLICE - 1:
                await asyncio.sleep(0)
        metadata = list_metadata(encoder, self.objects.revision)
        return ApiResponse(OK, encoder.encode_list(metadata, items), warning_headers(warnings))

    async def _respond(
        self,
        call: ApiRequest,
        target: ObjectRef,
        entry: StoredEntry,
        code: int = OK,
        warnings: Sequence[str] = (),
    ) -> ApiResponse:
        kind = target.kind
        if (convert := kind.strategy.conversion.convert_for_read) is not None:
            await convert((entry,))
        if target.subresource == SCALE:
            kind, entry = SCALES, scale_of(kind, entry)
        encoder = encoder_for(call, kind, self.clock)
        return ApiResponse(
            code, encoder.begin(encoder.encode(entry)) + b"\n", warning_headers(warnings)
        )
