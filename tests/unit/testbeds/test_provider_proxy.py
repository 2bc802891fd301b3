"""Promises of tests/testbeds/provider_proxy.py, without the provider."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientConnectorError, ClientError, ClientSession, web

from testbeds.provider_proxy import Fault, FaultKind, ProviderProxy, is_create, is_delete

pytestmark = pytest.mark.realtime


@asynccontextmanager
async def proxied() -> AsyncIterator[tuple[ProviderProxy, ClientSession]]:
    """A proxy before a server that says what it was asked, and a client of it."""

    async def answer(request: web.Request) -> web.Response:
        said = f"{request.method} {request.path_qs} {await request.text()} for {request.host}"
        return web.Response(status=207, text=said, headers={"InfID": "1"})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        upstream = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with ProviderProxy.before(upstream) as proxy, ClientSession(proxy.url) as client:
            yield proxy, client
    finally:
        await runner.cleanup()


async def test_requests_and_answers_pass_as_they_are() -> None:
    async with proxied() as (proxy, client):
        path = "/infrastructures/1?a=b%26c"
        async with client.post(path, data="body") as answer:
            host = proxy.url.removeprefix("http://")
            assert await answer.text() == f"POST {path} body for {host}"
            assert (answer.status, answer.headers["InfID"]) == (207, "1")
        assert [each.method for each in proxy.passed] == ["POST"]
        assert proxy.creates == 0


async def test_creates_are_counted_and_dry_runs_are_not() -> None:
    async with proxied() as (proxy, client):
        await client.post("/infrastructures?dry_run=true", data="t")
        await client.post("/infrastructures?async=true", data="t")
        await client.get("/infrastructures")
        assert (proxy.creates, proxy.count("POST"), proxy.asked) == (1, 1, 3)


@pytest.mark.parametrize(
    ("fault", "status"),
    [(Fault.answers(503), 503), (Fault.answers(429), 429), (Fault.html_not_found(), 404)],
)
async def test_something_else_answers(fault: Fault, status: int) -> None:
    async with proxied() as (proxy, client):
        proxy.inject(fault)
        async with client.get("/infrastructures") as answer:
            assert answer.status == status
        assert proxy.passed == []
        proxy.heal()
        async with client.get("/infrastructures") as answer:
            assert answer.status == 207


async def test_fault_holds_for_the_requests_it_fits_and_as_often_as_asked() -> None:
    async with proxied() as (proxy, client):
        proxy.inject(Fault(FaultKind.ANSWER, when=is_delete, times=1))
        statuses = []
        for method in ("GET", "DELETE", "DELETE"):
            async with client.request(method, "/infrastructures/1") as answer:
                statuses.append(answer.status)
        assert statuses == [207, 503, 207]


async def test_nobody_listens_until_it_listens_again_at_the_same_place() -> None:
    async with proxied() as (proxy, client):
        place = proxy.url
        await proxy.refuse()
        with pytest.raises(ClientConnectorError):
            await client.get("/version")
        await proxy.listen()
        assert proxy.url == place
        async with client.get("/version") as answer:
            assert answer.status == 207


async def test_request_hangs_until_it_is_released_and_never_arrives() -> None:
    async with proxied() as (proxy, client):
        fault = proxy.inject(Fault(FaultKind.HANG))
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(_asked(client))
            await fault.met.wait()
            assert not asked.done()
            fault.release.set()
        assert asked.result() == "cut"
        assert proxy.passed == []


async def test_answer_is_lost_after_the_request_arrived() -> None:
    async with proxied() as (proxy, client):
        fault = proxy.inject(Fault(FaultKind.LOSE_ANSWER, when=is_create, times=1))
        with pytest.raises(ClientError):
            await client.post("/infrastructures", data="t")
        assert fault.applied.is_set()
        assert proxy.creates == 1


async def _asked(client: ClientSession) -> str:
    try:
        async with client.get("/version") as answer:
            return await answer.text()
    except ClientError:
        return "cut"
