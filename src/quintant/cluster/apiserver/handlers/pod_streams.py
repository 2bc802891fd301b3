"""ExecREST: connections with containers, from a request to the protocol that follows it.

What is wrong with the pod is answered before anything is said about protocols: a client whose first
protocol is refused tries its second one, and shows what becomes of that. The program is with
whoever runs the pod (`runtimes`); the first that knows the pod is asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.filters.access import Access
from quintant.cluster.apiserver.golang.query import split_values
from quintant.cluster.apiserver.handlers.pod_logs import SIMULATED, LocatedPod, choose_container
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import (
    ContainerNotFound,
    ExecOptions,
    StreamingRuntime,
)
from quintant.cluster.apiserver.meta.request_info import RequestInfo, flag
from quintant.cluster.apiserver.meta.status import (
    KubeletError,
    bad_request,
    not_found,
    too_many_requests,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.resource import Resource
from quintant.http.connection import Connection

EXEC = "exec"
SESSIONS = 100
"""Connections with containers at once: each is a process, and three open files."""
UPGRADE_REQUIRED = "Upgrade request required"
NO_STREAM = "you must specify at least 1 of stdin, stdout, stderr"
_EXEC_OPTIONS = Resource("", "v1", "PodExecOptions", "pods/exec")
_FLAGS = ("stdin", "stdout", "stderr", "tty")

Admit = Callable[[ObjectRef, Resource, JsonObject, User], Awaitable[JsonObject]]
"""Lets webhooks see what a connection is asked with."""
Serve = Callable[[Connection], Awaitable[None]]


class PodStream(Struct, frozen=True):
    """An answer after which a connection is a session with a container."""

    headers: Mapping[str, str]
    serve: Serve
    release: Callable[[], None]
    """To be called when it is over, or never began."""


class PodStreams:
    """Answers pods/exec; `runtimes` are those who run pods."""

    def __init__(self, store: RevisionStore, access: Access, admit: Admit) -> None:
        self._store, self._access, self._admit = store, access, admit
        self._open = 0
        self.runtimes: list[StreamingRuntime] = []

    async def answer(
        self, call: ApiRequest, request_info: RequestInfo, kind: Kind, user: User
    ) -> PodStream:
        """What a connection becomes; StatusError if it becomes nothing."""
        target = ObjectRef(kind, request_info.namespace, request_info.name, EXEC)
        asked_with = await self._admit(target, _EXEC_OPTIONS, exec_options(call), user)
        # Clients of WebSockets say GET: to read pods is not to run something in them.
        self._access.authorize(user, replace(request_info, verb="create"))
        pod, container = self._locate(target, str(asked_with.get("container", "")))
        runtime = self._runtime(pod, target.name, container)
        options = _read_options(asked_with)
        headers, serve = _negotiate(call, runtime, pod.metadata.uid, container, options)
        if self._open >= SESSIONS:
            raise too_many_requests(
                f"{SESSIONS} connections with containers are open, and there may be no more: "
                "end one, or try again later"
            )
        self._open += 1
        return PodStream(headers, serve, self._release)

    def _release(self) -> None:
        self._open -= 1

    def _locate(self, target: ObjectRef, wanted: str) -> tuple[LocatedPod, str]:
        """A pod that has a node, and the container that is meant."""
        entry = self._store.table(target.kind.table).entries.get(
            f"{target.namespace}/{target.name}"
        )
        if entry is None:
            raise not_found(target.kind.resource, target.name)
        pod = stored_json.read(entry, LocatedPod)
        container = choose_container(pod.spec, target.name, wanted)
        node = pod.spec.node_name
        if not node:
            raise bad_request(f"pod {target.name} does not have a host assigned")
        if node not in self._store.table("nodes").entries:
            raise not_found(target.kind.resource, node)
        return pod, container

    def _runtime(self, pod: LocatedPod, name: str, container: str) -> StreamingRuntime:
        """Who runs the container; StatusError if it does not run."""
        uid = pod.metadata.uid
        for runtime in self.runtimes:
            if runtime.has(uid):
                try:
                    runtime.check_container(uid, container)
                except ContainerNotFound as error:
                    raise KubeletError(str(error)) from error
                return runtime
        if pod.status.reason == SIMULATED:
            raise bad_request(
                f"pod {name} is simulated: no program runs in it that one could connect with"
            )
        raise KubeletError(f'container not found ("{container}")')


def exec_options(call: ApiRequest) -> JsonObject:
    """PodExecOptions, as a query has them."""
    command = split_values(call.query["command"]) if "command" in call.query else []
    options: JsonObject = {each: True for each in _FLAGS if flag(call.query, each)}
    if call.query.get("container"):
        options["container"] = call.query["container"]
    return {**options, "command": command}


def _read_options(given: Mapping[str, Any]) -> ExecOptions:
    """The options, after webhooks may have changed them."""
    command = tuple(str(each) for each in given.get("command") or ())
    flags = {each: given.get(each) is True for each in _FLAGS}
    if not any(flags[each] for each in ("stdin", "stdout", "stderr")):
        raise bad_request(NO_STREAM)
    if not command:
        raise bad_request("you must specify at least one command for the container")
    return ExecOptions(command, **flags)


def _negotiate(
    call: ApiRequest, runtime: StreamingRuntime, uid: str, container: str, options: ExecOptions
) -> tuple[Mapping[str, str], Serve]:
    """The protocol that a connection goes on with: what is answered, and who serves it."""
    # Loaded by servers whose clients have such a connection.
    from quintant.cluster.apiserver.streaming.channels import PROTOCOLS, choose_protocol
    from quintant.cluster.apiserver.streaming.session import serve_exec
    from quintant.cluster.apiserver.streaming.websocket import (
        WebSocketConnection,
        handshake_error,
        handshake_headers,
        is_websocket,
        offered_protocols,
    )

    if "upgrade" not in call.headers.get("connection", "").lower():
        raise bad_request(UPGRADE_REQUIRED)
    if not is_websocket(call.headers):
        wanted = call.headers.get("upgrade", "")
        raise bad_request(f"unable to upgrade: {wanted} is not served by this cluster")
    if why := handshake_error(call.headers):
        raise bad_request(why)
    offered = offered_protocols(call.headers)
    protocol = choose_protocol(offered)
    if not protocol:
        raise bad_request(
            f"requested protocol(s) are not supported: [{' '.join(offered)}]; "
            f"supports [{' '.join(PROTOCOLS)}]"
        )

    async def serve(connection: Connection) -> None:
        client = WebSocketConnection(connection)
        await serve_exec(client, runtime, uid, container, options)

    return handshake_headers(call.headers, protocol), serve
