"""pods/proxy and services/proxy: whom a request reaches, and what nobody can make it reach."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from quintant.cluster.apiserver.meta.user import User
from unit.client.pki import Authority
from unit.cluster.api import Api, server
from unit.cluster.apiserver.proxy.backend import (
    ADDRESS,
    ROOT,
    Backend,
    Proxied,
    proxied,
    refused,
    split,
    subset,
)

pytestmark = pytest.mark.realtime
SIMULATED = "pod web is simulated: no program runs in it that one could connect with"


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Proxied]:
    async with proxied() as found:
        yield found


async def test_a_request_to_a_pod_is_the_pods_with_its_query_and_its_response(
    cluster: Proxied,
) -> None:
    await cluster.pod()
    code, fields, body = split(await cluster.ask(f"{ROOT}/pods/web/proxy/a/b%20c/?x=1&x=2"))
    assert (code, body) == (200, b"ok")
    assert fields["audit-id"]
    assert fields["cache-control"] == "no-cache, private"
    assert cluster.backend.heads[0].target == b"/a/b%20c/?x=1&x=2"
    assert cluster.backend.sent("host") == [cluster.authority]
    assert cluster.backend.sent("x-forwarded-for") == ["127.0.0.1"]
    assert cluster.backend.sent("x-forwarded-uri") == [f"{ROOT}/pods/web/proxy/a/b%20c/"]
    assert cluster.runtime.dialled[0][1] == 8080


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_every_method_is_passed_on_with_its_body(cluster: Proxied, method: str) -> None:
    await cluster.pod()
    sent = await cluster.ask(f"{ROOT}/pods/web:81/proxy/x", method=method, body=b"data" * 1000)
    assert split(sent)[0] == 200
    assert cluster.backend.heads[0].method == method.encode()
    assert cluster.backend.bodies == [b"data" * 1000]
    assert cluster.runtime.dialled[0][1] == 81


async def test_other_methods_are_refused(cluster: Proxied) -> None:
    await cluster.pod()
    code, _ = refused(await cluster.ask(f"{ROOT}/pods/web/proxy/x", method="TRACE"))
    assert (code, cluster.runtime.dialled) == (405, [])


async def test_the_bare_path_leads_to_the_one_with_a_slash(cluster: Proxied) -> None:
    await cluster.pod()
    code, fields, body = split(await cluster.ask(f"{ROOT}/pods/web/proxy?a=b"))
    assert (code, fields["location"], body) == (301, f"{root('web')}/?a=b".lower(), b"")
    assert split(await cluster.ask(f"{ROOT}/pods/web/proxy", method="POST"))[0] == 200
    assert cluster.backend.heads[0].target == b"/"


def root(pod: str) -> str:
    return f"{ROOT}/pods/{pod}/proxy"


async def test_links_and_redirects_of_a_page_lead_through_the_proxy(cluster: Proxied) -> None:
    await cluster.pod()
    page = b'<a href="/login">in</a><img src=logo.png><!-- <a href="/no"> -->'
    cluster.backend.answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
        b"Access-Control-Allow-Origin: *\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(page), page)
    )
    response = await cluster.ask(f"{root('web')}/")
    code, fields, body = split(response)
    expected = page.replace(b'"/login"', f'"{root("web")}/login"'.encode())
    assert (code, body, fields["content-length"]) == (200, expected, str(len(expected)))
    assert "access-control-allow-origin" not in fields
    assert response.count(b"set-cookie: ") == 2
    cluster.backend.answer = b"HTTP/1.1 302 F\r\nLocation: /in?x=1\r\nContent-Length: 0\r\n\r\n"
    code, fields, _ = split(await cluster.ask(f"{root('web')}/out"))
    assert (code, fields["location"]) == (302, f"{root('web')}/in?x=1")


async def test_a_page_in_several_members_of_gzip_is_passed_on_whole(cluster: Proxied) -> None:
    await cluster.pod()
    page = gzip.compress(b'<a href="/login">in</a>') + gzip.compress(b"<p>and more</p>")
    cluster.backend.answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(page), page)
    )
    assert split(await cluster.ask(f"{root('web')}/"))[2] == page


async def test_a_response_that_breaks_off_is_not_taken_for_a_whole_one(cluster: Proxied) -> None:
    await cluster.pod()
    cluster.backend.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
    response = await cluster.ask(f"{root('web')}/x")
    assert b"3\r\nabc\r\n" in response
    assert not response.endswith(b"0\r\n\r\n")
    assert (await cluster.api.send("GET", f"{root('web')}/x")).status == 503


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "EOF"),
        (b"", "EOF"),
        (
            b"junk\r\n\r\n",
            "net/http: HTTP/1.x transport connection broken: malformed HTTP response",
        ),
    ],
)
async def test_a_program_that_does_not_speak_http_is_no_answer(
    cluster: Proxied, answer: bytes | None, why: str
) -> None:
    await cluster.pod()
    cluster.backend.answer = answer
    response = await cluster.ask(f"{root('web')}/x")
    assert refused(response) == (503, f"error trying to reach service: {why}")


async def test_bodies_go_both_ways_at_once_as_they_come(cluster: Proxied) -> None:
    await cluster.pod()

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (data := await reader.readuntil(b"\r\n")) != b"0\r\n":
            payload = await reader.readexactly(int(data, 16) + 2)
            writer.write(data + payload)
        writer.write(b"0\r\n\r\n")

    cluster.backend.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    cluster.backend.talk = echo  # type: ignore[method-assign]
    reader, writer = await cluster.open("POST", f"{root('web')}/x", "Transfer-Encoding: chunked")
    await reader.readuntil(b"\r\n\r\n")
    for piece in (b"1\r\na\r\n", b"2\r\nbc\r\n"):
        writer.write(piece)
        assert await reader.readexactly(len(piece)) == piece
    writer.write(b"0\r\n\r\n")
    assert await reader.readexactly(5) == b"0\r\n\r\n"
    writer.close()


async def test_another_protocol_is_the_clients_and_the_pods(cluster: Proxied) -> None:
    await cluster.pod()

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data.upper())

    cluster.backend.answer = (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: x\r\n\r\nfirst"
    )
    cluster.backend.talk = echo  # type: ignore[method-assign]
    lines = "Upgrade: websocket", "Connection: Upgrade"
    reader, writer = await cluster.open("GET", f"{root('web')}/ws?a=1", *lines)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert head.startswith(b"http/1.1 101 ")
    assert b"sec-websocket-accept: x\r\n" in head
    assert await reader.readexactly(5) == b"first"
    assert cluster.backend.heads[0].target == b"/ws?a=1"
    assert cluster.backend.sent("upgrade") == ["websocket"]
    writer.write(b"abc")
    assert await reader.readexactly(3) == b"ABC"
    writer.close()
    async with asyncio.timeout(20):
        await cluster.backend.closed.wait()


async def test_a_pod_that_will_not_change_the_protocol_says_so_itself(cluster: Proxied) -> None:
    await cluster.pod()
    lines = "Upgrade: websocket", "Connection: Upgrade"
    cluster.backend.answer = b"HTTP/1.1 403 F\r\nContent-Length: 2\r\n\r\nno"
    reader, writer = await cluster.open("GET", f"{root('web')}/ws", *lines)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 403 ")
    assert await reader.readexactly(2) == b"no"
    writer.close()
    cluster.backend.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"
    reader, writer = await cluster.open("GET", f"{root('web')}/ws", *lines)
    assert b" 500 " in await reader.readuntil(b"\r\n\r\n")
    assert b"invalid upgrade response: status code 200" in await reader.readuntil(b"}\n")
    writer.close()


async def test_a_service_leads_to_a_pod_behind_it(cluster: Proxied) -> None:
    pod = await cluster.pod()
    await cluster.service(subset())
    for name in ("web", "web:80", "http:web:", "http:web:80"):
        assert split(await cluster.ask(f"{ROOT}/services/{name}/proxy/x"))[0] == 200
    assert cluster.runtime.dialled == [(pod["metadata"]["uid"], 8080)] * 4


async def test_a_port_of_a_service_has_a_name_or_a_number(cluster: Proxied) -> None:
    await cluster.pod()
    await cluster.service(subset(name="main"), port="main")
    assert split(await cluster.ask(f"{ROOT}/services/web:main/proxy/x"))[0] == 200
    assert split(await cluster.ask(f"{ROOT}/services/web:80/proxy/x"))[0] == 200
    for name, why in (
        ("web", 'no endpoints available for service "web"'),
        ("web:other", 'no endpoints available for service "web:other"'),
        ("web:81", 'no service port 81 found for service "web"'),
    ):
        response = await cluster.ask(f"{ROOT}/services/{name}/proxy/x")
        assert refused(response) == (503, why)


async def test_simulated_pods_say_that_they_are(cluster: Proxied) -> None:
    await cluster.pod(runs=False, reason="Simulated")
    await cluster.service(subset())
    assert refused(await cluster.ask(f"{ROOT}/pods/web/proxy/x")) == (400, SIMULATED)
    response = await cluster.ask(f"{ROOT}/services/web/proxy/x")
    assert refused(response) == (503, f"error trying to reach service: {SIMULATED}")


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ConnectionRefusedError(), f"dial tcp {ADDRESS}:8080: connect: connection refused"),
        (TimeoutError(), f"dial tcp {ADDRESS}:8080: i/o timeout"),
    ],
)
async def test_a_pod_that_does_not_listen_is_no_answer(
    cluster: Proxied, error: OSError, why: str
) -> None:
    await cluster.pod()
    cluster.runtime.refuses = error
    response = await cluster.ask(f"{root('web')}/x")
    assert refused(response) == (503, f"error trying to reach service: {why}")
    lines = "Upgrade: websocket", "Connection: Upgrade"
    reader, writer = await cluster.open("GET", f"{root('web')}/x", *lines)
    await reader.readuntil(b"\r\n\r\n")
    assert f"error dialing backend: {why}".encode() in await reader.readuntil(b"}\n")
    writer.close()


async def test_there_are_no_more_than_so_many_at_once(cluster: Proxied) -> None:
    await cluster.pod()
    cluster.backend.answer = b"HTTP/1.1 200 OK\r\n\r\nbegun"
    cluster.backend.talk = lambda reader, writer: reader.read()  # type: ignore
    opened = [await cluster.open("GET", f"{root('web')}/x") for _ in range(200)]
    for reader, _ in opened:
        await reader.readuntil(b"begun")
    assert refused(await cluster.ask(f"{root('web')}/x"))[0] == 429
    for _, writer in opened:
        writer.close()
        await writer.wait_closed()
    cluster.backend.talk = Backend().talk  # type: ignore[method-assign]
    codes = [split(await cluster.ask(f"{root('web')}/x", method="HEAD"))[0] for _ in range(20)]
    assert codes[-1] == 200


async def test_a_pod_is_reached_over_tls_whatever_its_certificate_is_for() -> None:
    async with proxied(Authority().serving("elsewhere.example.com")) as cluster:
        await cluster.pod()
        response = await cluster.ask(f"{ROOT}/pods/https:web:8080/proxy/x", body=b"a" * 100_000)
    assert split(response)[::2] == (200, b"ok")
    assert cluster.backend.bodies == [b"a" * 100_000]


async def test_a_pod_that_does_not_speak_tls_is_no_answer_to_who_wants_it(
    cluster: Proxied,
) -> None:
    await cluster.pod()
    response = await cluster.ask(f"{ROOT}/pods/https:web:8080/proxy/x")
    why = "http: server gave HTTP response to HTTPS client"
    assert refused(response) == (503, f"error trying to reach service: {why}")


async def test_roles_name_the_subresource_and_the_verb_of_the_method() -> None:
    embedded = server(rbac=True)
    embedded.tokens.add("ann", User("ann"))
    api = Api(embedded, "ann")
    for method, verb in (("GET", "get"), ("POST", "create"), ("OPTIONS", "")):
        reply = await api.send(method, f"{ROOT}/services/https:web:1/proxy/x")
        assert msgspec.json.decode(reply.body)["message"] == (
            f'services "https:web:1" is forbidden: User "ann" cannot {verb} resource '
            '"services/proxy" in API group "" in the namespace "default"'
        )
    first = embedded.audit.by("ann")[0]
    assert (first.verb, first.resource, first.name, first.code) == (
        "get", "services/proxy", "https:web:1", 403,
    )  # fmt: skip
