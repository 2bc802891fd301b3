"""A client of API servers for their tests: plain data in, plain data out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from quintant.client.transport import ApiRequest, ApiResponse, InProcessTransport, Transport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random

JsonObject = dict[str, Any]

JSON = "application/json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
CMS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FOOS = "/apis/example.com/v1/namespaces/default/foos"


class Requests:
    """Requests to a server; each says which code it expects and returns the body."""

    def __init__(self, transport: Transport, agent: str = "") -> None:
        self.transport = transport
        self._agent = agent

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        media: str = JSON,
        headers: Mapping[str, str] | None = None,
        **query: str,
    ) -> ApiResponse:
        sent = {**({"user-agent": self._agent} if self._agent else {}), **(headers or {})}
        raw = body if isinstance(body, bytes | None) else msgspec.json.encode(body)
        if raw is not None:
            sent["content-type"] = media
        return await self.transport.request(ApiRequest(method, path, query, sent, raw))

    async def ask(self, method: str, path: str, body: Any, code: int, **more: Any) -> JsonObject:
        reply = await self.send(method, path, body, **more)
        assert reply.status == code, f"{method} {path}: {reply.status} {reply.body!r}"
        answer: JsonObject = msgspec.json.decode(reply.body)
        return answer

    async def get(self, path: str, *, code: int = 200, **more: Any) -> JsonObject:
        return await self.ask("GET", path, None, code, **more)

    async def create(self, path: str, obj: Any, *, code: int = 201, **more: Any) -> JsonObject:
        return await self.ask("POST", path, obj, code, **more)

    async def put(self, path: str, obj: Any, *, code: int = 200, **more: Any) -> JsonObject:
        return await self.ask("PUT", path, obj, code, **more)

    async def merge(self, path: str, patch: Any, *, code: int = 200, **more: Any) -> JsonObject:
        return await self.ask("PATCH", path, patch, code, media=MERGE, **more)

    async def patch(
        self, path: str, *operations: JsonObject, code: int = 200, **more: Any
    ) -> JsonObject:
        return await self.ask("PATCH", path, list(operations), code, media=JSON_PATCH, **more)

    async def apply(
        self, path: str, config: Any, manager: str, *, code: int = 200, **more: Any
    ) -> JsonObject:
        return await self.ask(
            "PATCH", path, config, code, media=APPLY, fieldManager=manager, **more
        )

    async def delete(
        self, path: str, options: Any = None, *, code: int = 200, **more: Any
    ) -> JsonObject:
        return await self.ask("DELETE", path, options, code, **more)

    async def names(self, path: str, **query: Any) -> list[str]:
        listed = await self.get(path, **query)
        return [item["metadata"]["name"] for item in listed["items"]]

    @asynccontextmanager
    async def watch(self, path: str, **query: str) -> AsyncIterator[Events]:
        call = ApiRequest("GET", path, {"watch": "true", **query})
        async with self.transport.stream(call) as stream:
            assert stream.status == 200
            yield Events(stream.chunks)


class Api(Requests):
    """Requests to an embedded server in this process."""

    def __init__(self, server: ApiServer, token: str = "", agent: str = "test/1") -> None:
        super().__init__(InProcessTransport(server, token), agent)
        self.server = server


class Events:
    """The events of a watch, one by one."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._lines: list[bytes] = []

    async def next(self, within: float = 1.0) -> JsonObject:
        """The next event; TimeoutError if none comes within that virtual time."""
        async with asyncio.timeout(within):
            while not self._lines:
                self._lines = (await anext(self._chunks)).splitlines()
        event: JsonObject = msgspec.json.decode(self._lines.pop(0))
        return event

    async def told(self, within: float = 1.0) -> tuple[str, str]:
        """Type and name of the next event."""
        event = await self.next(within)
        return event["type"], event["object"]["metadata"].get("name", "")

    async def rest(self) -> list[JsonObject]:
        """Every event until the stream ends."""
        events = [msgspec.json.decode(line) for line in self._lines]
        async for chunk in self._chunks:
            events += [msgspec.json.decode(line) for line in chunk.splitlines()]
        return events


def server(*, rbac: bool = False, seed: int = 0, managed: bool = False) -> ApiServer:
    random = Random(seed)
    return ApiServer(clock=LoopClock(), random=random, rbac=rbac, managed=managed)


def api() -> Api:
    """A fresh server, and a client that may do everything."""
    return Api(server())


def config_map(name: str, data: Mapping[str, str] | None = None, **metadata: Any) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
        **({"data": dict(data)} if data is not None else {}),
    }


def pod(name: str, *, node: str = "", **metadata: Any) -> JsonObject:
    spec: JsonObject = {"containers": [{"name": "main", "image": "image"}]}
    return {
        "metadata": {"name": name, **metadata},
        "spec": spec | ({"nodeName": node} if node else {}),
    }


def foo(name: str, spec: JsonObject | None = None, **metadata: Any) -> JsonObject:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": name, **metadata},
        **({"spec": spec} if spec is not None else {}),
    }


FOO_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer", "default": 1},
                "replicas": {"type": "integer"},
                "opts": {
                    "type": "object",
                    "default": {},
                    "properties": {"a": {"type": "string", "default": "x"}},
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "tags": {
                    "type": "array",
                    "x-kubernetes-list-type": "set",
                    "items": {"type": "string"},
                },
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    "items": {
                        "type": "object",
                        "required": ["port"],
                        "properties": {
                            "port": {"type": "integer"},
                            "protocol": {"type": "string", "default": "TCP"},
                            "name": {"type": "string"},
                        },
                    },
                },
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "phase": {"type": "string"},
                "replicas": {"type": "integer"},
                "selector": {"type": "string"},
            },
        },
    },
}


def foo_definition(schema: JsonObject | None = None, **version: Any) -> JsonObject:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {
                        "status": {},
                        "scale": {
                            "specReplicasPath": ".spec.replicas",
                            "statusReplicasPath": ".status.replicas",
                            "labelSelectorPath": ".status.selector",
                        },
                    },
                    "schema": {"openAPIV3Schema": schema or FOO_SCHEMA},
                    **version,
                }
            ],
        },
    }
