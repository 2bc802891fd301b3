"""ExecREST, AttachREST, PortForwardREST: connections with pods, from a request to a protocol.

What is wrong with the pod is answered before anything is said about protocols: a client whose first
protocol is refused tries its second one, and shows what becomes of that. The program is with
whoever runs the pod (`runtimes`); the first that knows the pod is asked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import partial
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
    StatusError,
    bad_request,
    not_found,
    too_many_requests,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.resource import Resource
from quintant.http.connection import Connection

EXEC, ATTACH, PORT_FORWARD = "exec", "attach", "portforward"
DOCUMENTS = {
    EXEC: "PodExecOptions",
    ATTACH: "PodAttachOptions",
    PORT_FORWARD: "PodPortForwardOptions",
}
"""What each is asked with."""
SESSIONS = 100
"""Connections with containers at once: each is a process, and three open files."""
UPGRADE_REQUIRED = "Upgrade request required"
NO_STREAM = "you must specify at least 1 of stdin, stdout, stderr"
_PORT_DIGITS = 6
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


def log_messages(headers: Mapping[str, str], pieces: AsyncGenerator[bytes, None]) -> PodStream:
    """What a container prints, as messages of a WebSocket."""
    # Loaded by servers whose clients have such a connection.
    from quintant.cluster.apiserver.streaming.log_socket import PROTOCOLS, send_log
    from quintant.cluster.apiserver.streaming.negotiate import negotiate

    return PodStream(
        negotiate(headers, PROTOCOLS, ()).headers, partial(send_log, pieces), lambda: None
    )


class PodStreams:
    """Answers pods/exec, pods/attach and pods/portforward; `runtimes` are those who run pods."""

    def __init__(self, store: RevisionStore, access: Access, admit: Admit) -> None:
        self._store, self._access, self._admit = store, access, admit
        self._open = 0
        self.runtimes: list[StreamingRuntime] = []

    async def answer(
        self, call: ApiRequest, request_info: RequestInfo, kind: Kind, user: User
    ) -> PodStream:
        """What a connection becomes; StatusError if it becomes nothing."""
        sub = request_info.subresource
        target = ObjectRef(kind, request_info.namespace, request_info.name, sub)
        document = Resource("", "v1", DOCUMENTS[sub], f"pods/{sub}")
        asked_with = await self._admit(target, document, stream_options(call, sub), user)
        # Clients of WebSockets say GET: to read pods is not to run something in them.
        self._access.authorize(user, replace(request_info, verb="create"))
        pod = self._find(target)
        if sub == PORT_FORWARD:
            found = self._port_forward(call, target, pod)
        else:
            found = self._session(call, target, pod, asked_with)
        if self._open >= SESSIONS:
            raise too_many_requests(
                f"{SESSIONS} connections with containers are open, and there may be no more: "
                "end one, or try again later"
            )
        self._open += 1
        return PodStream(*found, self._release)

    def _session(
        self, call: ApiRequest, target: ObjectRef, pod: LocatedPod, asked_with: JsonObject
    ) -> tuple[Mapping[str, str], Serve]:
        """A command in a container, or its output."""
        wanted = str(asked_with.get("container", ""))
        container = choose_container(pod.spec, target.name, wanted)
        self._check_node(target, pod)
        uid = pod.metadata.uid
        runtime = self._runtime(pod, target, container)
        options = _read_options(asked_with, target.subresource)
        # Loaded by servers whose clients have such a connection.
        from quintant.cluster.apiserver.streaming.channels import PROTOCOLS, V4
        from quintant.cluster.apiserver.streaming.negotiate import negotiate
        from quintant.cluster.apiserver.streaming.session import serve_exec
        from quintant.cluster.apiserver.streaming.spdy import SpdyConnection, SpdyExecStreams
        from quintant.cluster.apiserver.streaming.websocket import WebSocketConnection

        protocol = negotiate(call.headers, PROTOCOLS, (V4,))
        if target.subresource == ATTACH:
            start = partial(runtime.attach, uid, container, options)
        else:
            start = partial(runtime.exec, uid, container, options)

        async def serve(connection: Connection) -> None:
            if protocol.websocket:
                await serve_exec(WebSocketConnection(connection), start, options, protocol.name)
                return
            streams = SpdyExecStreams(SpdyConnection(connection))
            if await streams.open(options):
                await serve_exec(streams, start, options, protocol.name)

        return protocol.headers, serve

    def _port_forward(
        self, call: ApiRequest, target: ObjectRef, pod: LocatedPod
    ) -> tuple[Mapping[str, str], Serve]:
        """Connections to ports of a pod."""
        self._check_node(target, pod)
        dial = partial(self._runtime(pod, target).dial, pod.metadata.uid)
        # Loaded by servers whose clients have such a connection.
        from quintant.cluster.apiserver.streaming import port_forward
        from quintant.cluster.apiserver.streaming.channels import V4
        from quintant.cluster.apiserver.streaming.negotiate import negotiate
        from quintant.cluster.apiserver.streaming.port_channels import (
            ChannelPortForward,
            read_ports,
        )
        from quintant.cluster.apiserver.streaming.spdy import SpdyConnection
        from quintant.cluster.apiserver.streaming.websocket import (
            WebSocketConnection,
            WebSocketTunnel,
        )

        spoken = (port_forward.TUNNEL, V4), (port_forward.PORT_FORWARD,)
        protocol = negotiate(call.headers, *spoken)
        channels = protocol.name == V4
        ports = read_ports(call.query.get("ports")) if channels else ()

        async def serve(connection: Connection) -> None:
            if channels:
                socket = WebSocketConnection(connection)
                await ChannelPortForward(socket, dial, target.name, ports).serve()
                return
            carrier = WebSocketTunnel(connection) if protocol.websocket else connection
            streams = SpdyConnection(carrier)
            await port_forward.PortForwardSession(streams, dial, target.name).serve()

        return protocol.headers, serve

    def _release(self) -> None:
        self._open -= 1

    def _find(self, target: ObjectRef) -> LocatedPod:
        entry = self._store.table(target.kind.table).entries.get(
            f"{target.namespace}/{target.name}"
        )
        if entry is None:
            raise not_found(target.kind.resource, target.name)
        return stored_json.read(entry, LocatedPod)

    def _check_node(self, target: ObjectRef, pod: LocatedPod) -> None:
        node = pod.spec.node_name
        if not node:
            raise bad_request(f"pod {target.name} does not have a host assigned")
        if node not in self._store.table("nodes").entries:
            raise not_found(target.kind.resource, node)

    def _runtime(self, pod: LocatedPod, target: ObjectRef, container: str = "") -> StreamingRuntime:
        """Who runs a pod, or a container of it; StatusError if it does not run."""
        uid = pod.metadata.uid
        for runtime in self.runtimes:
            if runtime.has(uid):
                try:
                    if container:
                        runtime.check_container(uid, container)
                    else:
                        runtime.check_pod(uid)
                except ContainerNotFound as error:
                    raise KubeletError(str(error)) from error
                return runtime
        if pod.status.reason == SIMULATED:
            raise simulated_pod(target.name)
        raise KubeletError(f'container not found ("{container}")' if container else "pod not found")


def simulated_pod(name: str) -> StatusError:
    """400: there is nothing in a pod that one could connect with."""
    return bad_request(
        f"pod {name} is simulated: no program runs in it that one could connect with"
    )


def stream_options(call: ApiRequest, sub: str) -> JsonObject:
    """PodExecOptions and their like, as a query has them."""
    if sub == PORT_FORWARD:
        ports = [each for each in call.query.get("ports", "").split(",") if each.isdigit()]
        return {"ports": [int(each) for each in ports if len(each) < _PORT_DIGITS]}
    options: JsonObject = {each: True for each in _FLAGS if flag(call.query, each)}
    if call.query.get("container"):
        options["container"] = call.query["container"]
    if sub == ATTACH:
        return options
    command = split_values(call.query["command"]) if "command" in call.query else []
    return {**options, "command": command}


def _read_options(given: Mapping[str, Any], sub: str) -> ExecOptions:
    """The options, after webhooks may have changed them."""
    command = tuple(str(each) for each in given.get("command") or ())
    flags = {each: given.get(each) is True for each in _FLAGS}
    if not any(flags[each] for each in ("stdin", "stdout", "stderr")):
        raise bad_request(NO_STREAM)
    if not command and sub == EXEC:
        raise bad_request("you must specify at least one command for the container")
    return ExecOptions(command, **flags)
