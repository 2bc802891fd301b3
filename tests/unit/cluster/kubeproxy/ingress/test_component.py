"""An Ingress is served as it says, to clients on real sockets, through endpoints that are ready."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from quintant.api.core import ConfigMap, Event, Secret, Service, ServicePort, ServiceSpec
from quintant.api.discovery import (
    SERVICE_LABEL,
    Endpoint,
    EndpointConditions,
    EndpointSlice,
    SlicePort,
)
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.kubeproxy.ingress.component import CLASS, running_ingress
from quintant.cluster.kubeproxy.ingress.controller import TABLE, IngressController
from quintant.cluster.kubeproxy.ingress.views import (
    HTTPIngressPath,
    HTTPIngressRuleValue,
    Ingress,
    IngressBackend,
    IngressClass,
    IngressRule,
    IngressServiceBackend,
    IngressSpec,
    IngressTLS,
    ServiceBackendPort,
)
from quintant.core.clock import Random, SystemClock
from quintant.keys.authority import Authority, Validity
from quintant.keys.tls import KeyPair
from quintant.runtime.cache.client import Client
from quintant.testing import named

pytestmark = pytest.mark.realtime

HOST = "127.0.0.1"
WITHIN = 20.0
NOW = SystemClock().now()
LIFE = Validity(NOW, NOW + timedelta(days=1))
AUTHORITY = Authority.make("test", LIFE)
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
async def server() -> ApiServer:
    made = ApiServer(rbac=True)
    made.tokens.add("admin", admin())
    return made


@pytest.fixture
def client(server: ApiServer) -> Client:
    return Client(Rest(InProcessTransport(server, "admin")), manager="test")


@pytest.fixture
async def ingresses(server: ApiServer) -> AsyncIterator[IngressController]:
    async with running_ingress(server, HOST, AUTHORITY, SystemClock(), Random()) as made:
        yield made


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A pod that says what it was sent; with Upgrade, byte by byte from there on."""
    head = await reader.readuntil(b"\r\n\r\n")
    if b"upgrade: chat" in head.lower():
        writer.write(b"HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n")
        while raw := await reader.read(100):
            writer.write(raw.upper())
        writer.close()
        return
    body = b""
    if b"transfer-encoding: chunked" in head.lower():
        body = await reader.readuntil(b"0\r\n\r\n")
    said = head + body
    writer.write(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n")
    writer.write(b"Content-Length: %d\r\n\r\n" % len(said) + said)
    await writer.drain()
    writer.close()


@asynccontextmanager
async def pod(answer: Answer = echo) -> AsyncIterator[int]:
    """A program that echoes, for as long as the context lasts; its port."""
    server = await asyncio.start_server(answer, HOST, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def backed(client: Client, port: int, *, ready: bool = True) -> None:
    """A Service `web` whose port 80, by name http, leads to a port of this machine."""
    ports = (ServicePort(name="http", port=80),)
    await client.create(Service(metadata=named("web"), spec=ServiceSpec(ports=ports)))
    endpoint = Endpoint(addresses=(HOST,), conditions=EndpointConditions(ready=ready))
    await client.create(
        EndpointSlice(
            metadata=named("web-1", labels={SERVICE_LABEL: "web"}),
            address_type="IPv4",
            endpoints=(endpoint,),
            ports=(SlicePort(name="http", port=port, protocol="TCP"),),
        )
    )


def ingress(host: str = "a.io", *, secret: str = "", name: str = "a", of: str = "") -> Ingress:
    service = IngressServiceBackend(name="web", port=ServiceBackendPort(name="http"))
    path = HTTPIngressPath(path="/", path_type="Prefix", backend=IngressBackend(service=service))
    rules = (IngressRule(host=host, http=HTTPIngressRuleValue(paths=(path,))),)
    tls = (IngressTLS(hosts=(host,), secret_name=secret),) if secret else ()
    spec = IngressSpec(rules=rules, tls=tls, ingress_class_name=of or None)
    return Ingress(metadata=named(name), spec=spec)


async def ports_of(client: Client, name: str = "a") -> tuple[int, int]:
    """The ports for HTTP and HTTPS, once the status says them."""
    async with asyncio.timeout(WITHIN):
        while True:
            found = await client.get(Ingress, name, "default", live=True)
            if points := found.status.load_balancer.ingress:
                http, https = (each.port for each in points[0].ports)
                return http, https
            await asyncio.sleep(0.005)


async def exchanged(
    port: int, raw: bytes, tls: ssl.SSLContext | None = None, host: str = ""
) -> bytes:
    """What is answered to these bytes until the connection ends."""
    reader, writer = await asyncio.open_connection(
        HOST, port, ssl=tls, server_hostname=host or None
    )
    try:
        async with asyncio.timeout(WITHIN):
            writer.write(raw)
            return await reader.read()
    finally:
        writer.close()


def get(host: str, path: str = "/", more: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n".encode()


async def answered(port: int, raw: bytes, wanted: bytes) -> bytes:
    """The answer, once it is the wanted one: endpoints are heard of a moment later."""
    async with asyncio.timeout(WITHIN):
        while True:
            if wanted in (found := await exchanged(port, raw)):
                return found
            await asyncio.sleep(0.005)


async def test_a_request_reaches_the_pod_with_where_it_came_from(
    client: Client, ingresses: IngressController
) -> None:
    async with pod() as at:
        await backed(client, at)
        await client.create(ingress())
        http, _ = await ports_of(client)
        said = await answered(
            http, get("A.io:99", "/x?y=1", "X-Forwarded-For: 6.6.6.6\r\n"), b"200 OK"
        )
    assert b"GET /x?y=1 HTTP/1.1" in said
    assert b"Host: A.io:99" in said
    assert b"X-Forwarded-For: 127.0.0.1" in said
    assert b"X-Forwarded-Proto: http" in said
    assert b"6.6.6.6" not in said
    assert said.count(b"Set-Cookie") == 2


async def test_an_ingress_that_names_no_class_gets_ours(
    client: Client, ingresses: IngressController
) -> None:
    made = await client.create(ingress())
    assert made.spec.ingress_class_name == CLASS
    found = await client.get(IngressClass, CLASS)
    assert found.spec.controller == "quintant.dev/ingress"


async def test_an_ingress_of_another_class_is_left_alone(
    client: Client, ingresses: IngressController
) -> None:
    await client.create(ingress("other.io", name="other", of="nginx"))
    await client.create(ingress())
    http, _ = await ports_of(client)
    assert b" 404 " in await exchanged(http, get("other.io"))
    other = await client.get(Ingress, "other", "default")
    assert other.status.load_balancer.ingress == ()


async def test_what_no_rule_is_about_is_404_and_what_has_no_endpoint_503(
    client: Client, ingresses: IngressController
) -> None:
    await client.create(ingress())
    http, _ = await ports_of(client)
    assert b" 404 " in await exchanged(http, get("elsewhere.io"))
    assert b" 503 " in await exchanged(http, get("a.io"))
    await backed(client, 9, ready=False)
    await answered(http, get("a.io"), b"no endpoint that is ready")


async def test_a_pod_that_takes_no_connection_is_502(
    client: Client, ingresses: IngressController
) -> None:
    async with pod() as gone:
        pass
    await backed(client, gone)
    await client.create(ingress())
    http, _ = await ports_of(client)
    await answered(http, get("a.io"), b" 502 ")


async def test_a_deleted_ingress_is_served_no_more(
    client: Client, ingresses: IngressController
) -> None:
    async with pod() as at:
        await backed(client, at)
        made = await client.create(ingress())
        http, _ = await ports_of(client)
        await answered(http, get("a.io"), b"200 OK")
        await client.delete(made)
        await answered(http, get("a.io"), b" 404 ")


async def test_a_body_in_chunks_arrives_in_chunks(
    client: Client, ingresses: IngressController
) -> None:
    raw = (
        b"POST / HTTP/1.1\r\nHost: a.io\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    async with pod() as at:
        await backed(client, at)
        await client.create(ingress())
        http, _ = await ports_of(client)
        await answered(http, get("a.io"), b"200 OK")
        said = await exchanged(http, raw + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert b"abc" in said
    assert b"de" in said


async def test_an_upgraded_connection_is_the_pods_in_both_directions(
    client: Client, ingresses: IngressController
) -> None:
    raw = b"GET / HTTP/1.1\r\nHost: a.io\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"
    async with pod() as at:
        await backed(client, at)
        await client.create(ingress())
        http, _ = await ports_of(client)
        await answered(http, get("a.io"), b"200 OK")
        reader, writer = await asyncio.open_connection(HOST, http)
        async with asyncio.timeout(WITHIN):
            writer.write(raw)
            assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
            writer.write(b"hello")
            assert await reader.readexactly(5) == b"HELLO"
            writer.write(b"again")
            assert await reader.readexactly(5) == b"AGAIN"
        writer.close()


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\nHost: a.io\r\nHost: b.io\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a.io\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a.io\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a.io\n\n",
        b"GET / HTTP/1.1\r\nHost: a.io\r\n folded: x\r\n\r\n",
        b"GET http://b.io/ HTTP/1.1\r\nHost: a.io\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a.io\r\nX: " + b"x" * 40_000 + b"\r\n\r\n",
    ],
)
async def test_what_could_be_read_in_two_ways_reaches_no_pod(
    client: Client, ingresses: IngressController, raw: bytes
) -> None:
    connected = 0

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connected
        connected += 1
        await echo(reader, writer)

    async with pod(counted) as at:
        await backed(client, at)
        await client.create(ingress())
        http, _ = await ports_of(client)
        await answered(http, get("a.io"), b"200 OK")
        before = connected
        said = await exchanged(http, raw)
    assert said.split()[1] in (b"400", b"431", b"501")
    assert connected == before


async def first_event(client: Client) -> Event:
    """The first event that is recorded."""
    async with asyncio.timeout(WITHIN):
        while True:
            if found := await client.list(Event, "default", live=True):
                return found[0]
            await asyncio.sleep(0.005)


def trusting() -> ssl.SSLContext:
    return ssl.create_default_context(cadata=AUTHORITY.certificate.decode())


def secret(pair: KeyPair, name: str = "cert", type: str = "kubernetes.io/tls") -> Secret:
    data = {"tls.crt": pair.certificate, "tls.key": pair.key}
    return Secret(
        metadata=named(name),
        type=type,
        data={name: b64encode(value.reveal()).decode() for name, value in data.items()},
    )


async def shown(port: int, host: str) -> bytes | None:
    """The certificate that a host shows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    _, writer = await asyncio.open_connection(HOST, port, ssl=context, server_hostname=host)
    found: bytes | None = writer.get_extra_info("ssl_object").getpeercert(True)
    writer.close()
    return found


async def test_a_host_shows_the_certificate_of_its_secret_and_the_newest_one(
    client: Client, ingresses: IngressController
) -> None:
    async with pod() as at:
        await backed(client, at)
        await client.create(secret(AUTHORITY.serving(["a.io"], LIFE)))
        await client.create(ingress(secret="cert"))
        http, https = await ports_of(client)
        await answered(http, get("a.io"), b"200 OK")
        said = await exchanged(https, get("a.io"), trusting(), "a.io")
        assert b"X-Forwarded-Proto: https" in said
        before = await shown(https, "a.io")
        await client.apply(secret(AUTHORITY.serving(["a.io"], LIFE)), force=True)
        async with asyncio.timeout(WITHIN):
            while True:
                if await shown(https, "a.io") != before:
                    break
                await asyncio.sleep(0.005)
        assert b"200 OK" in await exchanged(https, get("a.io"), trusting(), "a.io")


async def test_a_broken_secret_harms_its_own_host_alone_and_is_reported(
    client: Client, ingresses: IngressController
) -> None:
    good, other = AUTHORITY.serving(["a.io"], LIFE), AUTHORITY.serving(["b.io"], LIFE)
    async with pod() as at:
        await backed(client, at)
        await client.create(secret(good))
        mixed = secret(KeyPair(other.certificate, good.key), "broken", "Opaque")
        await client.create(mixed)
        await client.create(ingress(secret="cert"))
        await client.create(ingress("b.io", secret="broken", name="b"))
        _, https = await ports_of(client, "b")
        await ports_of(client)
        own = await shown(https, "nobody.io")
        assert await shown(https, "b.io") == own != await shown(https, "a.io")
        assert b"200 OK" in await exchanged(https, get("a.io"), trusting(), "a.io")
        found = await first_event(client)
    assert found.reason == "BrokenCertificate"
    assert found.involved_object.name == "b"


async def test_ports_are_the_same_in_the_next_run(server: ApiServer, client: Client) -> None:
    await client.create(ingress())
    async with running_ingress(server, HOST, AUTHORITY, SystemClock(), Random()):
        before = await ports_of(client)
    table = await client.get(ConfigMap, TABLE.name, TABLE.namespace)
    assert str(before[0]) in table.data["kube-system.ingress"]
    async with running_ingress(server, HOST, AUTHORITY, SystemClock(), Random()) as again:
        async with asyncio.timeout(WITHIN):
            while True:
                if again.is_serving:
                    break
                await asyncio.sleep(0.005)
        assert await ports_of(client) == before
