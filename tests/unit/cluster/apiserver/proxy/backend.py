"""A server with a pod whose program answers what a test wants, and a client that speaks bytes."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import ContainerNotFound
from quintant.cluster.apiserver.server.https import serve
from quintant.http.head import RequestHead, parse_request_head
from unit.cluster.api import Api, JsonObject, server
from unit.cluster.apiserver.streaming.fakes import FakeRuntime

ROOT = "/api/v1/namespaces/default"
ADDRESS = "10.1.2.3"
TLS = b"\x16"
"""How a handshake begins."""
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Backend:
    """A program of a pod: what it was sent, and what it answers; `None` hangs up."""

    def __init__(self) -> None:
        self.heads: list[RequestHead] = []
        self.bodies: list[bytes] = []
        self.answer: bytes | None = OK
        self.closed = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw = await reader.read(1)
        if raw == TLS:
            writer.write(b"HTTP/1.0 400 Bad Request\r\n\r\n")
            writer.close()
            return
        head = parse_request_head(raw + await reader.readuntil(b"\r\n\r\n"))
        self.heads.append(head)
        lengths = head.all(b"content-length")
        self.bodies.append(await reader.readexactly(int(lengths[0])) if lengths else b"")
        if self.answer is not None:
            writer.write(self.answer)
            await self.talk(reader, writer)
        writer.close()
        self.closed.set()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """What follows the answer."""

    def sent(self, name: str) -> list[str]:
        """The values of a field of the last request."""
        return [each.decode() for each in self.heads[-1].all(name.encode())]


class ProxiedRuntime(FakeRuntime):
    """Runs the pods of some uids; whatever port is dialled, it is the program's."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port
        self.uids: set[str] = set()
        self.dialled: list[tuple[str, int]] = []
        self.refuses: OSError | None = None

    def has(self, uid: str) -> bool:
        return uid in self.uids

    def check_pod(self, uid: str) -> None:
        if self.missing:
            raise ContainerNotFound(self.missing)

    async def dial(self, uid: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.dialled.append((uid, port))
        if self.refuses is not None:
            raise self.refuses
        return await asyncio.open_connection("127.0.0.1", self._port)


class Proxied:
    """The server, its pods, and requests to it over a socket."""

    def __init__(self, api: Api, runtime: ProxiedRuntime, backend: Backend, url: str) -> None:
        self.api, self.runtime, self.backend = api, runtime, backend
        self.authority = urlsplit(url).netloc

    async def pod(
        self, name: str = "web", *, port: int = 8080, runs: bool = True, **status: Any
    ) -> JsonObject:
        """A pod; `runs` says that somebody runs it."""
        container: JsonObject = {"name": "c", "image": "i"}
        if port:
            container["ports"] = [{"containerPort": port}]
        made = await self.api.create(
            f"{ROOT}/pods", {"metadata": {"name": name}, "spec": {"containers": [container]}}
        )
        known = {"podIP": ADDRESS, "podIPs": [{"ip": ADDRESS}], **status}
        await self.api.merge(f"{ROOT}/pods/{name}/status", {"status": known})
        if runs:
            self.runtime.uids.add(made["metadata"]["uid"])
        return made

    async def service(self, *subsets: JsonObject, name: str = "web", port: str = "") -> None:
        """A Service with a port 80, and its Endpoints."""
        ports = [{"port": 80, **({"name": port} if port else {})}]
        await self.api.create(
            f"{ROOT}/services", {"metadata": {"name": name}, "spec": {"ports": ports}}
        )
        endpoints = {"metadata": {"name": name}, "subsets": list(subsets)}
        await self.api.create(f"{ROOT}/endpoints", endpoints)

    async def open(
        self, method: str, path: str, *lines: str, body: bytes = b""
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection with a request on it."""
        reader, writer = await asyncio.open_connection(*self.authority.split(":"))
        head = [f"{method} {path} HTTP/1.1", f"Host: {self.authority}", *lines, "", ""]
        writer.write("\r\n".join(head).encode() + body)
        return reader, writer

    async def ask(self, path: str, *lines: str, method: str = "GET", body: bytes = b"") -> bytes:
        """The whole response, as it comes."""
        sized = (f"Content-Length: {len(body)}",) if body else ()
        reader, writer = await self.open(
            method, path, "Connection: close", *lines, *sized, body=body
        )
        try:
            return await reader.read()
        finally:
            writer.close()


def subset(
    pod: str = "web", *, address: str = ADDRESS, port: int = 8080, name: str = "", **target: str
) -> JsonObject:
    """A subset of Endpoints with one address."""
    reference = {"kind": "Pod", "namespace": "default", "name": pod, **target}
    ports = [{"port": port, **({"name": name} if name else {})}]
    return {"addresses": [{"ip": address, "targetRef": reference}], "ports": ports}


def split(response: bytes) -> tuple[int, dict[str, str], bytes]:
    """Code, fields and body of a response."""
    head, _, body = response.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines)
    return int(first.split()[1]), fields, body


def refused(response: bytes) -> tuple[int, str]:
    """Code and message of a refusal."""
    code, _, body = split(response)
    message: str = msgspec.json.decode(body)["message"]
    return code, message


@asynccontextmanager
async def proxied(secured: ssl.SSLContext | None = None) -> AsyncIterator[Proxied]:
    """All of it, for as long as the context lasts."""
    backend = Backend()
    listening = await asyncio.start_server(backend.serve, "127.0.0.1", 0, ssl=secured)
    async with listening:
        embedded = server()
        runtime = ProxiedRuntime(listening.sockets[0].getsockname()[1])
        embedded.streams.runtimes.append(runtime)
        async with serve(embedded) as url:
            yield Proxied(Api(embedded), runtime, backend, url)
