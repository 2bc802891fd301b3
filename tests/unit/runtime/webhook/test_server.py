from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import aiohttp
import msgspec
import pytest

from quintant.core.errors import ConfigError
from quintant.core.object import replace
from quintant.keys.tls import KeyPair
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.webhook import Admission, Denied, Plain, Spoke, WebhookDeclarations
from quintant.runtime.webhook.authority import IssuedCertificate, issue_certificate
from quintant.runtime.webhook.route import ADMISSION_BYTES
from quintant.runtime.webhook.server import WebhookServer
from unit.runtime.webhook.kinds import UID, Gate, admission, client, conversion, document

pytestmark = pytest.mark.realtime

JSON = {"content-type": "application/json"}


class Gatekeeper:
    """Judges gates; a slow one waits until it is told to go on."""

    def __init__(self) -> None:
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def judge(self, _old: Gate | None, new: Gate | None, _: Admission) -> Denied | None:
        self.asked.set()
        if new and new.spec.host == "slow":
            await self.go.wait()
        return Denied("no") if new and new.spec.host == "deny" else None

    async def amend(self, new: Gate, _: Admission) -> Gate:
        return replace(new, spec=replace(new.spec, host="amended"))


def same(obj: Plain) -> Plain:
    return obj


class Source:
    """A certificate that is replaced by hand."""

    def __init__(self) -> None:
        self.issued = issue_certificate(["localhost", "127.0.0.1"], datetime.now(UTC))
        self.new: IssuedCertificate | None = self.issued

    async def poll(self) -> KeyPair | None:
        new, self.new = self.new, None
        return new.pair if new else None

    def replace(self) -> IssuedCertificate:
        self.issued = self.new = issue_certificate(["localhost", "127.0.0.1"], datetime.now(UTC))
        return self.issued


class World:
    """A server on loopback and a caller that trusts it."""

    def __init__(self) -> None:
        self.keeper, self.source, self.metrics = Gatekeeper(), Source(), Metrics()
        webhooks = WebhookDeclarations("gates")
        webhooks.validating(Gate, self.keeper.judge, path="/judge")
        webhooks.mutating(Gate, self.keeper.amend, path="/amend")
        webhooks.converting(Gate, {"v2": Spoke(same, same)})
        self.server = WebhookServer(
            webhooks, client=client(), metrics=self.metrics, source=self.source
        )
        self.port = 0

    def url(self, path: str) -> str:
        return f"https://127.0.0.1:{self.port}{path}"

    def trusting(self, issued: IssuedCertificate) -> aiohttp.TCPConnector:
        context = ssl.create_default_context(cadata=issued.authority.decode())
        return aiohttp.TCPConnector(ssl=context)

    async def post(self, path: str, body: Any, **options: Any) -> tuple[int, Any]:
        async with (
            aiohttp.ClientSession(connector=self.trusting(self.source.issued)) as session,
            session.post(self.url(path), data=body, **{"headers": JSON, **options}) as answer,
        ):
            assert answer.headers["content-type"] == "application/json"
            return answer.status, msgspec.json.decode(await answer.read())


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    async with world.server.serve("127.0.0.1:0") as address:
        world.port = address.port
        yield world


async def test_a_validating_review_is_answered_over_tls(world: World) -> None:
    status, review = await world.post("/judge?timeout=10s", admission(document({"host": "deny"})))
    assert status == 200
    assert review["response"]["uid"] == UID
    assert review["response"]["allowed"] is False


async def test_a_mutating_review_is_answered_over_tls(world: World) -> None:
    _, review = await world.post("/amend?timeout=10s", admission(document()))
    assert review["response"]["patchType"] == "JSONPatch"


async def test_a_conversion_review_is_answered_over_tls(world: World) -> None:
    objects = [document()] * 1000
    _, review = await world.post("/convert", conversion(objects, "gates.example.com/v2"))
    versions = {obj["apiVersion"] for obj in review["response"]["convertedObjects"]}
    assert versions == {"gates.example.com/v2"}
    assert len(review["response"]["convertedObjects"]) == 1000


@pytest.mark.parametrize("body", [b"", b"garbage", b"\x00" * 100_000])
async def test_garbage_is_answered_with_a_status(world: World, body: bytes) -> None:
    status, document = await world.post("/judge", body)
    assert (status, document["kind"]) == (400, "Status")


async def test_a_body_of_the_wrong_type_is_answered_with_a_status(world: World) -> None:
    status, document = await world.post("/judge", b"{}", headers={"content-type": "text/plain"})
    assert (status, document["reason"]) == (415, "UnsupportedMediaType")


async def test_an_unknown_path_is_not_found(world: World) -> None:
    status, _ = await world.post("/nowhere", admission(document()))
    assert status == 404


async def test_only_post_is_understood(world: World) -> None:
    async with (
        aiohttp.ClientSession(connector=world.trusting(world.source.issued)) as session,
        session.get(world.url("/judge")) as answer,
    ):
        assert answer.status == 405


async def test_a_huge_body_is_refused_before_it_is_read_to_its_end(world: World) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 20 * ADMISSION_BYTES:
            sent += 1 << 20
            yield b" " * (1 << 20)

    try:
        status, _ = await world.post("/judge", endless())
    except aiohttp.ClientError:  # the server hung up while we were still sending
        status = 413
    assert status == 413
    assert sent < 20 * ADMISSION_BYTES
    total = "controller_runtime_webhook_requests_total"
    labels = {"webhook": "/judge", "code": "413"}
    assert world.metrics.registry.value(total, labels) == 1


async def test_a_new_connection_gets_the_new_certificate_and_an_old_one_stays_up(
    world: World,
) -> None:
    old = world.source.issued
    body = admission(document())
    async with aiohttp.ClientSession(connector=world.trusting(old)) as session:
        async with session.post(world.url("/judge"), data=body, headers=JSON) as answer:
            await answer.read()
        new = world.source.replace()
        await world.server.certificates.refresh()
        async with session.post(world.url("/judge"), data=body, headers=JSON) as answer:
            assert answer.status == 200

    status, _ = await world.post("/judge", body)
    assert status == 200
    assert world.source.issued is new
    async with aiohttp.ClientSession(connector=world.trusting(old)) as session:
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await session.post(world.url("/judge"), data=body, headers=JSON)


async def test_a_body_that_is_not_encoded_as_it_says_is_answered_with_a_status(
    world: World,
) -> None:
    headers = {**JSON, "content-encoding": "gzip"}
    status, document = await world.post("/judge", b"not gzip at all", headers=headers)
    assert (status, document["kind"]) == (400, "Status")


async def test_a_caller_that_hangs_up_does_no_harm(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    context = ssl.create_default_context(cadata=world.source.issued.authority.decode())
    _, writer = await asyncio.open_connection("127.0.0.1", world.port, ssl=context)
    writer.write(b"POST /judge HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\nhalf")
    await writer.drain()
    writer.close()
    status, _ = await world.post("/judge", admission(document()))
    assert status == 200
    assert not caplog.records


async def test_stopping_lets_a_review_finish() -> None:
    world = World()
    async with asyncio.TaskGroup() as group, world.server.serve("127.0.0.1:0") as address:
        world.port = address.port
        review = group.create_task(world.post("/judge", admission(document({"host": "slow"}))))
        await world.keeper.asked.wait()
        asyncio.get_running_loop().call_later(0.05, world.keeper.go.set)
    status, answer = review.result()
    assert (status, answer["response"]["allowed"]) == (200, True)


async def test_a_server_without_a_certificate_does_not_open() -> None:
    server = WebhookServer(WebhookDeclarations("gates"), client=client(), metrics=Metrics())
    with pytest.raises(ConfigError, match="without a certificate"):
        async with server.serve("127.0.0.1:0"):
            pytest.fail("there is nothing to serve with")


async def test_a_renewal_that_crashes_takes_the_server_down() -> None:
    class Broken(Source):
        """Works once, and then raises what no source may raise."""

        async def poll(self) -> KeyPair | None:
            if self.new is None:
                raise KeyError
            return await super().poll()

    server = WebhookServer(
        WebhookDeclarations("gates"), client=client(), metrics=Metrics(), source=Broken()
    )
    with pytest.raises(ExceptionGroup) as crash:
        async with server.serve("127.0.0.1:0"):
            await asyncio.sleep(60)
    assert isinstance(crash.value.exceptions[0], KeyError)
