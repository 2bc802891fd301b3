"""Webhooks over HTTPS are verified, and what goes wrong is told as a real server tells it.

Connections are kept for the next review at the same place, and for nobody else.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import pytest_asyncio

from quintant.client.transport import JSON
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.webhooks.connection import ANSWER_BYTES
from quintant.cluster.apiserver.webhooks.dialer import WebhookRequest, WebhookUnreachable
from quintant.cluster.apiserver.webhooks.https_dialer import HttpsDialer
from quintant.core.address import BindAddress
from quintant.http.connection import Connection, Disconnected
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.http.server import Handler
from quintant.keys import tls
from quintant.keys.authority import Authority, Validity
from quintant.runtime.observe.listen import listen
from testbeds.liar_server import serving
from testbeds.liars import Manner, lie
from unit.cluster.api import Api, config_map
from unit.cluster.stub_webhooks import REGISTRATION, rule

pytestmark = pytest.mark.realtime

NOW = datetime.now(UTC)
TERM = Validity(NOW, NOW + timedelta(days=1))
AUTHORITY = Authority.make("hooks", TERM)
LOOPBACK = BindAddress("127.0.0.1", 0)
PATIENCE_SECONDS = 10.0
MOST_BYTES = 1024 * 1024


async def echo(request: Request) -> Response:
    _, port = request.connection.transport.get_extra_info("peername")
    seen = {"path": request.target, "host": request.field(b"host"), "from": port}
    body = (await request.body(MOST_BYTES)).decode()
    return Response(201, {"content-type": JSON}, msgspec.json.encode({**seen, "body": body}))


@asynccontextmanager
async def server(
    *names: str, term: Validity = TERM, handler: Handler = echo
) -> AsyncIterator[BindAddress]:
    async with listen(handler, LOOPBACK, presenting(*names, term=term)) as address:
        yield address


def presenting(*names: str, term: Validity = TERM) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_key_pair(context, AUTHORITY.serving(names, term))
    return context


@pytest_asyncio.fixture
async def dialer() -> AsyncIterator[HttpsDialer]:
    made = HttpsDialer()
    yield made
    made.close()


async def caller(dialer: HttpsDialer, sent: WebhookRequest) -> int:
    """The port from which a letter was posted: that of its connection."""
    found = msgspec.json.decode((await dialer.post(sent)).body)
    port: int = found["from"]
    return port


def webhook_request(url: str, bundle: bytes = AUTHORITY.certificate) -> WebhookRequest:
    return WebhookRequest(url, b"hello", bundle)


async def test_a_letter_arrives_and_the_answer_comes_back(dialer: HttpsDialer) -> None:
    async with server("127.0.0.1") as at:
        reply = await dialer.post(webhook_request(f"https://{at}/x?timeout=10s"))
    assert reply.status == 201
    assert reply.headers["content-type"].startswith("application/json")
    assert b'"path":"/x?timeout=10s"' in reply.body
    assert b'"body":"hello"' in reply.body


async def test_a_service_is_dialled_at_its_endpoint_and_verified_by_its_name(
    dialer: HttpsDialer,
) -> None:
    url = "https://s.n.svc:443/x"
    async with server("s.n.svc") as at:
        sent = WebhookRequest(url, b"", AUTHORITY.certificate, lambda: at)
        reply = await dialer.post(sent)
        assert b'"host":"s.n.svc:443"' in reply.body
        other = WebhookRequest("https://t.n.svc:443/x", b"", AUTHORITY.certificate, lambda: at)
        with pytest.raises(WebhookUnreachable, match=r"is valid for s\.n\.svc, not t\.n\.svc"):
            await dialer.post(other)


async def test_a_service_that_leads_nowhere_is_told_with_its_url(dialer: HttpsDialer) -> None:
    def nowhere() -> BindAddress:
        raise WebhookUnreachable('service "s" not found')

    with pytest.raises(WebhookUnreachable) as refused:
        await dialer.post(WebhookRequest("https://s.n.svc:443/x", b"", b"", nowhere))
    assert str(refused.value) == 'Post "https://s.n.svc:443/x": service "s" not found'


async def test_nobody_is_believed_without_an_authority(dialer: HttpsDialer) -> None:
    stranger = Authority.make("stranger", TERM).certificate
    async with server("127.0.0.1") as at:
        for bundle in (b"", stranger):
            with pytest.raises(WebhookUnreachable, match="certificate signed by unknown authority"):
                await dialer.post(webhook_request(f"https://{at}/x", bundle))


async def test_a_certificate_runs_out(dialer: HttpsDialer) -> None:
    over = Validity(NOW - timedelta(days=2), NOW - timedelta(days=1))
    async with server("127.0.0.1", term=over) as at:
        with pytest.raises(WebhookUnreachable, match="certificate has expired or is not yet valid"):
            await dialer.post(webhook_request(f"https://{at}/x"))


async def test_a_bundle_has_to_hold_certificates(dialer: HttpsDialer) -> None:
    with pytest.raises(WebhookUnreachable, match="unable to load root certificates"):
        await dialer.post(webhook_request("https://127.0.0.1:1/x", b"no certificate"))


async def test_a_closed_port_refuses(dialer: HttpsDialer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(WebhookUnreachable) as refused:
        await dialer.post(webhook_request(f"https://{at}/x"))
    why = f"dial tcp {at}: connect: connection refused"
    assert str(refused.value) == f'Post "https://{at}/x": {why}'


async def test_redirects_are_not_followed(dialer: HttpsDialer) -> None:
    async def elsewhere(_: Request) -> Response:
        return Response(302, {"location": "https://127.0.0.1:1/"})

    async with server("127.0.0.1", handler=elsewhere) as at:
        assert (await dialer.post(webhook_request(f"https://{at}/x"))).status == 302


async def test_letters_to_one_place_share_a_connection(dialer: HttpsDialer) -> None:
    async with server("127.0.0.1") as at:
        first = await caller(dialer, webhook_request(f"https://{at}/x"))
        assert await caller(dialer, webhook_request(f"https://{at}/y?timeout=1s")) == first
        both = await asyncio.gather(
            *(caller(dialer, webhook_request(f"https://{at}/z")) for _ in "ab")
        )
        assert len(set(both)) == 2, "one letter at a time"


async def test_other_authorities_are_another_place(dialer: HttpsDialer) -> None:
    stranger = Authority.make("stranger", TERM).certificate
    async with server("127.0.0.1") as at:
        first = await caller(dialer, webhook_request(f"https://{at}/x"))
        with pytest.raises(WebhookUnreachable, match="certificate signed by unknown authority"):
            await dialer.post(webhook_request(f"https://{at}/x", stranger))
        more = webhook_request(f"https://{at}/x", AUTHORITY.certificate + stranger)
        assert await caller(dialer, more) != first


async def test_other_names_are_another_place(dialer: HttpsDialer) -> None:
    async with server("s.n.svc") as at:
        for name in ("s", "t", "s"):
            sent = WebhookRequest(
                f"https://{name}.n.svc:443/x", b"", AUTHORITY.certificate, lambda: at
            )
            if name == "s":
                assert (await dialer.post(sent)).status == 201
            else:
                with pytest.raises(
                    WebhookUnreachable, match=r"is valid for s\.n\.svc, not t\.n\.svc"
                ):
                    await dialer.post(sent)


async def test_a_connection_that_died_at_rest_is_replaced(dialer: HttpsDialer) -> None:
    async def once(request: Request) -> Response:
        """Answer, and hang up on whoever asks again."""
        if request.path == "/again" and request.connection in used:
            raise Disconnected
        used.add(request.connection)
        return await echo(request)

    used: set[Connection] = set()
    async with server("127.0.0.1", handler=once) as at:
        first = await caller(dialer, webhook_request(f"https://{at}/x"))
        assert await caller(dialer, webhook_request(f"https://{at}/again")) != first


async def test_a_server_that_hangs_up_is_told_once(dialer: HttpsDialer) -> None:
    async def silent(request: Request) -> Response:
        asked.append(request.path)
        raise Disconnected

    asked: list[str] = []
    async with server("127.0.0.1", handler=silent) as at:
        with pytest.raises(WebhookUnreachable) as refused:
            await dialer.post(webhook_request(f"https://{at}/x"))
    assert str(refused.value) == f'Post "https://{at}/x": EOF'
    assert asked == ["/x"]


class Listener:
    """A webhook server that answers nothing of use, and knows when its callers hang up."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        writer.close()
        await writer.wait_closed()
        self.left.set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        context = presenting("127.0.0.1")
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0, ssl=context)
        async with server, asyncio.timeout(PATIENCE_SECONDS):
            yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/x"


async def test_a_closed_dialer_keeps_no_connection(dialer: HttpsDialer) -> None:
    listener = Listener()
    async with listener.listening() as url:
        await dialer.post(webhook_request(url))
        assert not listener.left.is_set(), "it is kept for the next letter"
        dialer.close()
        await listener.left.wait()
        listener.left.clear()
        await dialer.post(webhook_request(url))
        await listener.left.wait()


async def test_a_server_that_stops_hangs_up_on_its_webhooks() -> None:
    listener, server = Listener(), ApiServer()
    api = Api(server)
    bundle = b64encode(AUTHORITY.certificate).decode()
    async with listener.listening() as url:
        entry = {
            "name": "a.hooks.test",
            "clientConfig": {"url": url, "caBundle": bundle},
            "rules": [rule("configmaps")],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Ignore",
        }
        hooks = f"{REGISTRATION}/validatingwebhookconfigurations"
        await api.create(hooks, {"metadata": {"name": "a"}, "webhooks": [entry]})
        await api.create("/api/v1/namespaces/default/configmaps", config_map("a"))
        assert not listener.left.is_set()
        server.close()
        await listener.left.wait()


async def test_liars_answer_or_are_unreachable_and_nothing_else(dialer: HttpsDialer) -> None:
    truth = b'{"response": {"uid": "u", "allowed": true}}'
    lies = [lie(seed, truth) for seed in range(190)]
    told = [each for each in lies if each.manner in (Manner.WHOLE, Manner.RESET)]
    async with serving(told, presenting("127.0.0.1")) as liar:
        for each in told:
            with suppress(WebhookUnreachable, TimeoutError):
                # One that promises more than it sends is waited for, by who calls.
                async with asyncio.timeout(0.2):
                    reply = await dialer.post(webhook_request(f"{liar.url}/x"))
                    assert len(reply.body) <= ANSWER_BYTES, each
