"""ProxyREST: whom a request to a pod, Service or node is for, and who answers.

A pod is reached by whoever runs it (`runtimes`), at the address that it gave to that very pod:
whatever a status or Endpoints say, nothing else is dialled.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from functools import lru_cache, partial
from urllib.parse import quote

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.golang.net_errors import connect_error, tls_error
from quintant.cluster.apiserver.golang.tls_config import unverified_context
from quintant.cluster.apiserver.handlers.pod_streams import Admit, PodStream, simulated_pod
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import (
    ContainerNotFound,
    StreamingRuntime,
)
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import (
    bad_request,
    method_not_supported,
    service_unavailable,
)
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.proxy.handler import ProxiedResponse, UpgradeAwareHandler
from quintant.cluster.apiserver.proxy.location import (
    PATH_SAFE,
    ProxyTarget,
    location_path,
    option_path,
    read_target,
)
from quintant.cluster.apiserver.proxy.nodes import NodeProxy
from quintant.cluster.apiserver.proxy.proxied_request import DialFailed, ProxiedRequest
from quintant.cluster.apiserver.proxy.resolve import Backend, BackendResolver
from quintant.cluster.apiserver.proxy.rewrite import link_rewriter
from quintant.core.resource import Resource
from quintant.http.request import Request

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
HANDSHAKE_SECONDS = 10.0
"""For TLS to stand, as for Go."""
_READING = ("GET", "HEAD")


class Proxies:
    """Answers what is below `proxy` of a pod, a Service or a node."""

    def __init__(
        self,
        resolver: BackendResolver,
        nodes: NodeProxy,
        handler: UpgradeAwareHandler,
        admit: Admit,
        runtimes: Sequence[StreamingRuntime],
    ) -> None:
        self._resolver, self._nodes, self._handler = resolver, nodes, handler
        self._admit, self._runtimes = admit, runtimes

    async def answer(
        self,
        call: ApiRequest,
        request_info: RequestInfo,
        kind: Kind,
        user: User,
        incoming: Request | None,
    ) -> ApiResponse | ProxiedResponse | PodStream:
        """What comes of a request; StatusError if that is nothing."""
        if call.method not in METHODS:
            raise method_not_supported()
        if call.query.get("dryRun"):
            raise bad_request("dryRun is not supported")
        target = ObjectRef(kind, request_info.namespace, request_info.name, "proxy")
        document = Resource("", "v1", f"{kind.resource.kind}ProxyOptions", f"{kind.name}/proxy")
        options = {"path": option_path(request_info)}
        options = await self._admit(target, document, options, user)
        path = location_path(str(options.get("path") or ""))
        if kind.name == "nodes":
            wanted = read_target(request_info.name, "node")
            return self._nodes.answer(call, kind, wanted, path)
        backend, wanted = self._backend(kind, request_info)
        if not path and request_info.path.endswith("/"):
            path = "/"
        proxied = self._proxied(call, incoming, request_info, backend, wanted, path)
        if not path and call.method in _READING and not proxied.upgrades:
            return _redirect(proxied, request_info)
        return await self._handler.serve(proxied)

    def _backend(self, kind: Kind, request_info: RequestInfo) -> tuple[Backend, ProxyTarget]:
        """The pod that is to answer: one with a program, if there is a choice."""
        namespace, name = request_info.namespace, request_info.name
        if kind.name == "pods":
            wanted = read_target(name, "pod")
            backend = self._resolver.pod(namespace, wanted)
            if backend.pod.simulated:
                raise simulated_pod(backend.name)
            if self._runtime(backend) is None:
                raise bad_request(f"address not allowed: pod {backend.name} is run by no node")
            return backend, wanted
        wanted = read_target(name, "service")
        found = self._resolver.service(namespace, wanted, name)
        for backend in found:
            if self._runtime(backend) is not None:
                return backend, wanted
        if any(each.pod.simulated for each in found):
            why = simulated_pod(found[0].name).message
            raise service_unavailable(f"error trying to reach service: {why}")
        raise service_unavailable(f'no endpoints available for service "{name}"')

    def _runtime(self, backend: Backend) -> StreamingRuntime | None:
        uid = backend.pod.metadata.uid
        return next((each for each in self._runtimes if each.has(uid)), None)

    def _proxied(
        self,
        call: ApiRequest,
        incoming: Request | None,
        request_info: RequestInfo,
        backend: Backend,
        wanted: ProxyTarget,
        path: str,
    ) -> ProxiedRequest:
        host = call.headers.get("host", backend.host)
        links = link_rewriter(request_info.path, path, backend.host, host)
        more = (("x-forwarded-uri", links.forwarded_uri(path)),)
        dial = partial(self._dial, backend, secure=wanted.secure)
        return ProxiedRequest(call, incoming, path, host, dial, links, more)

    async def _dial(
        self, backend: Backend, *, secure: bool
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        runtime, uid = self._runtime(backend), backend.pod.metadata.uid
        try:
            if runtime is None:
                raise ConnectionRefusedError
            runtime.check_pod(uid)
            reader, writer = await runtime.dial(uid, backend.port)
        except ContainerNotFound as error:
            raise DialFailed(str(error)) from None
        except OSError as error:
            host = backend.pod.status.pod_ip
            raise DialFailed(connect_error(host, backend.port, error)) from None
        if secure:
            try:
                await writer.start_tls(_context(), ssl_handshake_timeout=HANDSHAKE_SECONDS)
            except OSError as error:
                writer.transport.abort()
                raise DialFailed(tls_error(error)) from None
        return reader, writer


def _redirect(proxied: ProxiedRequest, request_info: RequestInfo) -> ApiResponse:
    """To the same path with a slash at its end: links of a page are relative to that."""
    _, mark, query = proxied.target.partition("?")
    path = quote(request_info.path, safe=PATH_SAFE)
    return ApiResponse(301, b"", {"location": f"{path}/{mark}{query}"})


@lru_cache(maxsize=1)
def _context() -> ssl.SSLContext:
    """Pods are reached by their addresses: no certificate can be held to those."""
    return unverified_context()
