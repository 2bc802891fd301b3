"""A small extension server for tests: a group, over TLS, that believes a front proxy alone."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import msgspec

from quintant.cluster.instance.pki import issue_front_proxy
from quintant.core.address import BindAddress
from quintant.http.connection import Connection
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse, UpgradeResponse
from quintant.keys.authority import Authority, Validity
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import load_key_pair, memory_file
from quintant.runtime.observe.listen import listen
from unit.cluster.api import Api, JsonObject

GROUP, VERSION = "wardrobe.test", "v1"
ROOT = f"/apis/{GROUP}/{VERSION}"
NAME = "tailor.default.svc"
SERVICES = "/api/v1/namespaces/default/services"
ENDPOINTS = "/api/v1/namespaces/default/endpoints"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
API_SERVICE = f"{API_SERVICES}/{VERSION}.{GROUP}"
_NOW = datetime.now(UTC)
TERM = Validity(_NOW, _NOW + timedelta(days=1))
FRONT_PROXY = issue_front_proxy(Authority.make("clients", TERM).certificate, TERM)
HATS = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": f"{GROUP}/{VERSION}",
    "resources": [
        {
            "name": "hats",
            "singularName": "hat",
            "namespaced": True,
            "kind": "Hat",
            "verbs": ["get", "list"],
            "shortNames": ["h"],
        },
        {"name": "hats/brim", "namespaced": True, "kind": "Brim", "verbs": ["get"]},
    ],
}


class ExtensionServer:
    """Answers, and remembers what it was asked, and as whom."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.resources: bytes = msgspec.json.encode(HATS)
        self.answers = asyncio.Event()
        self.answers.set()
        self.events: asyncio.Queue[bytes] = asyncio.Queue()
        self.watches = 0
        self.unwatched = asyncio.Event()
        self.authority = Authority.make("tailors", TERM)
        self.address = BindAddress("127.0.0.1", 0)

    @asynccontextmanager
    async def serving(self, name: str = NAME) -> AsyncIterator[None]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        load_key_pair(context, self.authority.serving([name], TERM))
        with memory_file(Sensitive(FRONT_PROXY.authority)) as path:
            context.load_verify_locations(path)
        context.verify_mode = ssl.CERT_REQUIRED
        async with listen(self.handle, self.address, context, goodbye=0.0) as self.address:
            yield

    def fields(self, path: str) -> list[tuple[str, str]]:
        """The fields of the last request for a path, in order."""
        request = next(each for each in reversed(self.asked) if each.path == path)
        return [(name.decode().lower(), value.decode()) for name, value in request.head.fields]

    async def handle(self, request: Request) -> Response | StreamingResponse | UpgradeResponse:
        self.asked.append(request)
        await self.answers.wait()
        match request.path.removeprefix(ROOT):
            case "":
                return _json(self.resources)
            case "/openapi/v3":
                found = {ROOT.lstrip("/"): {"serverRelativeURL": f"/openapi/v3{ROOT}?hash=ABC"}}
                return _json(msgspec.json.encode({"paths": found}))
            case path if path.startswith("/openapi/v3/"):
                return _json(b'{"openapi": "3.0.0", "info": {"title": "hats"}}')
            case "/hats" if "watch=" in request.query:
                self.watches += 1
                return StreamingResponse(self._events(), self._ended)
            case "/namespaces/default/hats":
                body = await request.body(1 << 20)
                return Response(201, {"content-type": "application/json"}, body)
            case "/endless":
                return StreamingResponse(_endless())
            case "/elsewhere":
                return Response(302, {"location": "https://elsewhere.test/"})
            case "/talk":
                return UpgradeResponse(_echo, {"upgrade": "echo", "connection": "Upgrade"})
        return Response(404, {}, b"no such hat")

    async def _events(self) -> AsyncGenerator[bytes, None]:
        while True:
            yield await self.events.get()

    def _ended(self) -> None:
        self.watches -= 1
        self.unwatched.set()


async def install(api: Api, server: ExtensionServer, **spec: object) -> None:
    """A Service at the server's address, and the APIService that names it."""
    await api.create(SERVICES, {"metadata": {"name": "tailor"}, "spec": {"ports": [{"port": 443}]}})
    await point_at(api, server.address)
    await api.create(API_SERVICES, api_service(**{"caBundle": bundle(server), **spec}))


async def point_at(api: Api, address: BindAddress) -> None:
    subset = {"addresses": [{"ip": address.host}], "ports": [{"port": address.port}]}
    reply = await api.send("DELETE", f"{ENDPOINTS}/tailor")
    assert reply.status in (200, 404)
    await api.create(ENDPOINTS, {"metadata": {"name": "tailor"}, "subsets": [subset]})


def bundle(server: ExtensionServer) -> str:
    return b64encode(server.authority.certificate).decode()


def api_service(**spec: object) -> JsonObject:
    usual = {
        "group": GROUP,
        "version": VERSION,
        "groupPriorityMinimum": 900,
        "versionPriority": 15,
        "service": {"namespace": "default", "name": "tailor"},
    }
    return {"metadata": {"name": f"{VERSION}.{GROUP}"}, "spec": usual | spec}


async def available(api: Api, reason: str) -> JsonObject:
    """The condition of the APIService, once it has a reason."""
    async with api.watch(API_SERVICES, fieldSelector=f"metadata.name={VERSION}.{GROUP}") as events:
        while True:
            event = await events.next(within=3600.0)
            conditions: list[JsonObject] = event["object"]["status"].get("conditions") or []
            if conditions and conditions[0]["reason"] == reason:
                return conditions[0]


async def _endless() -> AsyncGenerator[bytes, None]:
    while True:
        yield b"x" * (1 << 20)
        await asyncio.sleep(0)


async def _echo(connection: Connection) -> None:
    while data := await connection.read():
        await connection.write(data)


def _json(body: bytes) -> Response:
    return Response(200, {"content-type": "application/json"}, body)
