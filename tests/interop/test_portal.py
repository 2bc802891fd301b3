"""Portal's own relay with our tunnel, and our relay with Portal's own tunnel.

Leases last 30 s and are renewed every 5: visits for 100 s see a lease outlive itself three times.
QUINTANT_SOAK=1 makes it ten minutes.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import ssl
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

import patience
from foreign.catalogue import PORTAL_HTTP_RELAY, PORTAL_RELAY, PORTAL_TUNNEL
from foreign.errors import ProgramError
from foreign.go_program import GoProgram
from foreign.process import Child, free_ports
from interop.conftest import Aloud
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.tunnel.options import RelayEndpoint
from quintant.core.clock import SystemClock
from quintant.keys.authority import Validity
from testbeds import portal_real
from testbeds.portal_originals import (
    DOMAIN,
    HELLO,
    OriginalRelay,
    PortalVisitor,
    original_tunnel,
    trailer_service,
    visiting_by_http,
    visiting_by_v1,
    web_service,
)
from testbeds.relays import RelayTestbed, Tunnel, opened

BODY = os.urandom(1 << 20) * 50
SEED = bytes(range(32))
LEASE_SECONDS = 600 if os.environ.get("QUINTANT_SOAK") else 100
BACK_SECONDS = 90.0
"""Portal's tunnel looks every 10 s whether its relay is there, and tries again every 5."""


def provided(program: GoProgram, aloud: Aloud) -> Path:
    """A program, built if it has to be; the test is skipped if it cannot be."""
    try:
        with aloud():
            return program.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


@pytest_asyncio.fixture
async def testbed(tmp_path: Path) -> AsyncIterator[RelayTestbed]:
    async with opened(tmp_path) as found:
        yield found


@asynccontextmanager
async def original_relay(program: Path, folder: Path) -> AsyncIterator[OriginalRelay]:
    relay = OriginalRelay(program, free_ports(1)[0], folder)
    await relay.start()
    try:
        yield relay
    finally:
        relay.stop()


def our_tunnel(testbed: RelayTestbed, service: int, *urls: str) -> Tunnel:
    targets = [RelayEndpoint(f"relay-{at}", url) for at, url in enumerate(urls)]
    return testbed.tunnel("hello", service, *targets, key=SEED)


@asynccontextmanager
async def our_relay_with_their_tunnel(
    testbed: RelayTestbed, program: Path, folder: Path, service: int
) -> AsyncIterator[tuple[int, int]]:
    """The ports of a relay of ours for tunnels and visitors, to which Portal's tunnel connects."""
    relay = await testbed.relay(domains=(DOMAIN,))
    url = f"wss://{DOMAIN}:{relay.tls_port}/relay"
    child = original_tunnel(program, "hello", service, [url], testbed.authority, folder)
    try:
        await until_it_answers(child, relay.http_port)
        yield relay.tls_port, relay.http_port
    finally:
        child.stop()


async def until_it_answers(child: Child, port: int) -> None:
    async with patience.within(BACK_SECONDS), visiting_by_http(port, "hello") as visitor:
        while await said(visitor) != HELLO:
            child.check()
            await asyncio.sleep(0.5)


async def said(visitor: PortalVisitor) -> str:
    try:
        return await visitor.get()
    except OSError:
        return ""


async def visit_in_every_way(visitor: PortalVisitor) -> None:
    assert await visitor.get() == HELLO
    assert await visitor.websocket("over and over") == "over and over"
    assert await visitor.post(BODY) == hashlib.sha256(BODY).hexdigest()


async def test_portal_relay_with_our_tunnel_by_http(
    testbed: RelayTestbed, tmp_path: Path, aloud: Aloud
) -> None:
    program = provided(PORTAL_HTTP_RELAY, aloud)
    async with web_service() as service, original_relay(program, tmp_path) as relay:
        await our_tunnel(testbed, service, relay.url).connected()
        async with visiting_by_http(relay.port, "hello") as visitor:
            await visit_in_every_way(visitor)


@pytest.mark.parametrize("program", [PORTAL_RELAY, PORTAL_HTTP_RELAY], ids=lambda it: it.version)
async def test_portal_relay_with_our_tunnel_past_a_relay_that_cannot_read(
    testbed: RelayTestbed, tmp_path: Path, aloud: Aloud, program: GoProgram
) -> None:
    found = provided(program, aloud)
    async with web_service() as service, original_relay(found, tmp_path) as relay:
        await our_tunnel(testbed, service, relay.url).connected()
        async with visiting_by_v1(relay.url, PortalCredential(SEED).id) as visitor:
            await visit_in_every_way(visitor)
            answers = await asyncio.gather(*(visitor.get() for _ in range(100)))
            assert set(answers) == {HELLO}


async def test_portal_relay_is_killed_and_our_tunnel_comes_back(
    testbed: RelayTestbed, tmp_path: Path, aloud: Aloud
) -> None:
    program = provided(PORTAL_HTTP_RELAY, aloud)
    async with web_service() as service, original_relay(program, tmp_path) as relay:
        tunnel = our_tunnel(testbed, service, relay.url)
        await tunnel.connected()
        relay.stop()
        await tunnel.until(lambda told: told.relays[0].state != "Connected")
        await relay.start()
        await tunnel.connected()
        async with visiting_by_http(relay.port, "hello") as visitor:
            assert await visitor.get() == HELLO


async def test_portal_relay_refuses_a_name_that_another_key_holds_and_shares_it_with_ours(
    testbed: RelayTestbed, tmp_path: Path, aloud: Aloud
) -> None:
    program = provided(PORTAL_HTTP_RELAY, aloud)
    async with web_service() as service, original_relay(program, tmp_path) as relay:
        first = our_tunnel(testbed, service, relay.url)
        await first.connected()
        target = RelayEndpoint("relay-0", relay.url)
        other = testbed.tunnel("hello", service, target, key=bytes(32))
        told = await other.until(lambda report: bool(report.relays[0].last_error))
        assert "another key holds it" in told.relays[0].last_error
        same = our_tunnel(testbed, service, relay.url)
        await same.connected()
        await first.stop()
        async with visiting_by_http(relay.port, "hello") as visitor:
            assert await visitor.get() == HELLO


async def test_portal_tunnel_with_our_relay(
    testbed: RelayTestbed, tmp_path: Path, aloud: Aloud
) -> None:
    program = provided(PORTAL_TUNNEL, aloud)
    async with (
        web_service() as service,
        our_relay_with_their_tunnel(testbed, program, tmp_path, service) as (_, port),
        visiting_by_http(port, "hello") as visitor,
    ):
        await visit_in_every_way(visitor)
        answers = await asyncio.gather(*(visitor.get() for _ in range(50)))
        assert set(answers) == {HELLO}


async def test_every_one_of_many_visitors_at_once_gets_through_portal_tunnel(
    testbed: RelayTestbed, tmp_path: Path, aloud: Aloud
) -> None:
    program = provided(PORTAL_TUNNEL, aloud)
    async with (
        web_service() as service,
        our_relay_with_their_tunnel(testbed, program, tmp_path, service) as (_, port),
        visiting_by_http(port, "hello") as visitor,
    ):
        answers = await asyncio.gather(*(visitor.get() for _ in range(1000)))
        assert Counter(answers) == {HELLO: 1000}


async def test_trailers_pass_portal_programs(
    testbed: RelayTestbed, tmp_path: Path, aloud: Aloud
) -> None:
    theirs, ours = provided(PORTAL_HTTP_RELAY, aloud), provided(PORTAL_TUNNEL, aloud)
    async with (
        trailer_service() as service,
        original_relay(theirs, tmp_path) as relay,
        our_relay_with_their_tunnel(testbed, ours, tmp_path, service) as (_, port),
        visiting_by_http(port, "hello") as one,
    ):
        assert await one.trailer("7") == "X-Seen: 7"
        await our_tunnel(testbed, service, relay.url).connected()
        async with visiting_by_v1(relay.url, PortalCredential(SEED).id) as other:
            assert await other.trailer("8") == "X-Seen: 8"
        async with visiting_by_http(relay.port, "hello") as third:
            # Portal's relay passes those of answers on, and drops those of requests.
            assert await third.trailer("9") == "X-Seen:"


async def test_our_relay_is_killed_and_portal_tunnel_comes_back(
    testbed: RelayTestbed, tmp_path: Path, aloud: Aloud
) -> None:
    program = provided(PORTAL_TUNNEL, aloud)
    async with web_service() as service:
        relay = await testbed.relay(domains=(DOMAIN,))
        tls, url = relay.tls_port, f"wss://{DOMAIN}:{relay.tls_port}/relay"
        child = original_tunnel(program, "hello", service, [url], testbed.authority, tmp_path)
        try:
            await until_it_answers(child, relay.http_port)
            await testbed.down()
            again = await testbed.relay(domains=(DOMAIN,), tls_port=tls)
            await until_it_answers(child, again.http_port)
        finally:
            child.stop()


async def test_portal_leases_are_renewed_for_as_long_as_they_are_wanted(
    testbed: RelayTestbed, tmp_path: Path, aloud: Aloud
) -> None:
    theirs, ours = provided(PORTAL_HTTP_RELAY, aloud), provided(PORTAL_TUNNEL, aloud)
    async with (
        web_service() as service,
        original_relay(theirs, tmp_path) as relay,
        our_relay_with_their_tunnel(testbed, ours, tmp_path, service) as (_, port),
        visiting_by_http(relay.port, "hello") as one,
        visiting_by_http(port, "hello") as other,
    ):
        tunnel = our_tunnel(testbed, service, relay.url)
        before = await tunnel.connected()
        loop = asyncio.get_running_loop()
        until = loop.time() + LEASE_SECONDS
        while loop.time() < until:
            assert await one.get() == await other.get() == HELLO
            await asyncio.sleep(5)
        after = await tunnel.report()
        assert after.relays[0].since == before.relays[0].since, "it was lost in between"


async def test_an_expose_at_a_portal_relay_is_ready_and_its_public_url_answers(
    tmp_path: Path, aloud: Aloud
) -> None:
    program = provided(PORTAL_HTTP_RELAY, aloud)
    async with (
        original_relay(program, tmp_path) as relay,
        portal_real.opened() as testbed,
        encrypted(testbed, relay.port, tmp_path) as port,
    ):
        await testbed.classed(replicas=2)
        await testbed.expose_at(f"wss://{DOMAIN}:{port}/relay")
        expose = await testbed.phase("Ready")
        assert expose.status is not None
        assert expose.status.public_url == f"https://hello.{DOMAIN}:{port}"
        answer = await testbed.visit_at("127.0.0.1", port, f"hello.{DOMAIN}")
        assert answer[0] == 200


@asynccontextmanager
async def encrypted(
    testbed: portal_real.RealPortalTestbed, port: int, folder: Path
) -> AsyncIterator[int]:
    """TLS before a relay, as a proxy that Portal's relays stand behind; its port."""
    now = SystemClock().now()
    term = Validity(now - timedelta(hours=1), now + timedelta(days=1))
    pair = testbed.authority.serving([DOMAIN, f"hello.{DOMAIN}"], term)
    files = folder / "tls.crt", folder / "tls.key"
    files[0].write_bytes(pair.certificate.reveal())
    files[1].write_bytes(pair.key.reveal())
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*files)

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))

    server = await asyncio.start_server(lead, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while raw := await reader.read(1 << 16):
            writer.write(raw)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
