"""LogREST, PodLogOptions: pods/log: which container, which lines, and from which provider.

Options are read and refused in the words of a real server. What a container printed is with
whoever runs it: a node brings its `LogProvider`, and the first that knows the pod answers.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kubelet_client.log_provider import (
    LogOptions,
    LogProvider,
    LogsUnavailable,
)
from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, invalid_object
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import bad_request, not_found
from quintant.cluster.apiserver.meta.warnings import warning_headers
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.clock import Clock, capped_timedelta
from quintant.core.errors import Cause
from quintant.core.resource import Resource

LOG = "log"
"""The name of the subresource."""
OK, NO_CONTENT = 200, 204
SIMULATED = "Simulated"
"""The reason in the status of a pod that nothing stands behind (quintant.cluster.simulated)."""
HEADERS = {"content-type": "text/plain"}
_OPTIONS = Resource("", "v1", "PodLogOptions", "")
_FALSE = ("false", "0")


class _Named(msgspec.Struct):
    name: str


class _Spec(msgspec.Struct, rename="camel"):
    containers: tuple[_Named, ...] = ()
    init_containers: tuple[_Named, ...] = ()
    ephemeral_containers: tuple[_Named, ...] = ()
    node_name: str = ""


class _Meta(msgspec.Struct):
    uid: str


class _Status(msgspec.Struct, frozen=True):
    reason: str = ""


class LocatedPod(msgspec.Struct):
    """A pod, as far as it matters for who wants to reach a container of it."""

    metadata: _Meta
    spec: _Spec
    status: _Status = _Status()


class LogStream(Struct, frozen=True):
    """An answer that goes on: what a container prints."""

    pieces: AsyncGenerator[bytes, None]

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """What there is, and what comes if it is followed."""
        return self.pieces


class PodLogs:
    """Answers pods/log; `providers` are those who have output."""

    def __init__(self, store: RevisionStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self.providers: list[LogProvider] = []

    def answer(
        self, call: ApiRequest, request_info: RequestInfo, kind: Kind
    ) -> ApiResponse | LogStream:
        """The output of a pod's container; nothing before the pod has a node."""
        options = _read(call.query, self._clock.now())
        entry = self._store.table(kind.table).entries.get(
            f"{request_info.namespace}/{request_info.name}"
        )
        if entry is None:
            raise not_found(kind.resource, request_info.name)
        causes = tuple(_complaints(call.query))
        if causes:
            raise invalid_object(_OPTIONS, request_info.name, *causes)
        pod = stored_json.read(entry, LocatedPod)
        container = choose_container(pod.spec, request_info.name, call.query.get("container", ""))
        node = pod.spec.node_name
        if not node:
            return ApiResponse(NO_CONTENT)
        if node not in self._store.table("nodes").entries:
            raise not_found(kind.resource, node)
        pieces = self._found(pod.metadata.uid, container, options)
        if pieces is not None:
            return LogStream(pieces)
        named = f'container "{container}" in pod "{request_info.name}"'
        if pod.status.reason != SIMULATED:
            raise bad_request(f"{named} is waiting to start: ContainerCreating")
        if options.previous:
            raise bad_request(f"previous terminated {named} not found")
        warning = f"pod {request_info.name} is simulated: it prints nothing"
        return ApiResponse(OK, headers=warning_headers((warning,), HEADERS))

    def _found(
        self, uid: str, container: str, options: LogOptions
    ) -> AsyncGenerator[bytes, None] | None:
        """What the first who knows the pod has to say; None if nobody does."""
        for provider in self.providers:
            if provider.has(uid):
                try:
                    return provider.read(uid, container, options)
                except LogsUnavailable as error:
                    raise bad_request(str(error)) from error
        return None


def choose_container(spec: _Spec, pod: str, wanted: str) -> str:
    """The container that a client means; 400 if it has to say which, or there is none of it."""
    every = (*spec.init_containers, *spec.containers, *spec.ephemeral_containers)
    names = [each.name for each in every]
    if wanted:
        if wanted not in names:
            raise bad_request(f"container {wanted} is not valid for pod {pod}")
        return wanted
    if len(spec.containers) != 1:
        choice = f"[{' '.join(names)}]"
        text = f"a container name must be specified for pod {pod}, choose one of: {choice}"
        raise bad_request(text)
    return spec.containers[0].name


def _read(query: Mapping[str, str], now: datetime) -> LogOptions:
    """The options, as far as they can be read at all."""
    since = _time(query["sinceTime"]) if "sinceTime" in query else None
    seconds = _number(query, "sinceSeconds")
    return LogOptions(
        follow=_flag(query, "follow"),
        previous=_flag(query, "previous"),
        timestamps=_flag(query, "timestamps"),
        tail=_number(query, "tailLines"),
        limit=_number(query, "limitBytes"),
        since=since if seconds is None else now - capped_timedelta(seconds),
    )


def _complaints(query: Mapping[str, str]) -> Iterator[Cause]:
    """What is wrong with options that can be read."""
    tail, limit, seconds = (
        _number(query, name) for name in ("tailLines", "limitBytes", "sinceSeconds")
    )
    if tail is not None and tail < 0:
        yield invalid("tailLines", tail, "must be greater than or equal to 0")
    if limit is not None and limit < 1:
        yield invalid("limitBytes", limit, "must be greater than 0")
    if seconds is not None and "sinceTime" in query:
        text = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        yield forbidden("[]", text)
    elif seconds is not None and seconds < 1:
        yield invalid("sinceSeconds", seconds, "must be greater than 0")
    if "stream" in query:
        yield forbidden("stream", "may not be specified")


def _flag(query: Mapping[str, str], name: str) -> bool:
    return name in query and query[name].lower() not in _FALSE


def _number(query: Mapping[str, str], name: str) -> int | None:
    if name not in query:
        return None
    text: Any = query[name]
    try:
        return int(text)
    except ValueError:
        reason = f'strconv.ParseInt: parsing "{text}": invalid syntax'
        raise bad_request(reason) from None


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        form = '"2006-01-02T15:04:05Z07:00"'
        raise bad_request(f'parsing time "{text}" as {form}: cannot parse "{text}" as "2006"')
    return found
