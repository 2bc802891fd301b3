"""Promises of quintant.runtime.remote, against real servers on loopback."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from quintant.api.core import ConfigMap, Node
from quintant.client.config.config import Config
from quintant.client.fence import Fence
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random
from quintant.core.errors import ApiError, ConnectError, NotLeader, TransportError
from quintant.core.object import ObjectMeta
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.remote import BoundedTransport, RemoteLimits, remote_client
from unit.client.loopback_servers import AUTHORITY, Answer, Api, serving

pytestmark = pytest.mark.realtime

TLS = AUTHORITY.serving("127.0.0.1", "localhost")
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "resourceVersion": "1"}}
SMALL = RemoteLimits(answer=2.0, size=10_000, pages=3, stream=10_000)


def kubeconfig(port: int, host: str) -> Config:
    cluster = {
        "server": f"https://{host}:{port}",
        "certificate-authority-data": base64.b64encode(AUTHORITY.pem).decode(),
    }
    document = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    return Config.from_bytes(json.dumps(document).encode(), environ={})


def near(metrics: Metrics | None = None, fence: Fence | None = None) -> Client:
    """The client of our own cluster."""
    transport = InProcessTransport(ApiServer(clock=LoopClock(), random=Random(0)))
    counts = metrics.rest("kubernetes") if metrics else None
    return Client(Rest(transport, counts, fence=fence), None, "infra")


def answering(body: object) -> Answer:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(body)

    return answer


@asynccontextmanager
async def bounded(
    answer: Answer, own: Client | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[tuple[Client, Api]]:
    """A client of a server that answers so, and the server."""
    async with serving(answer, TLS) as api:
        config = kubeconfig(api.port, host)
        async with remote_client(own or near(), config, label="target", limits=SMALL) as target:
            yield target, api


async def test_other_cluster_is_read_with_its_own_credentials_and_counted_apart() -> None:
    metrics = Metrics()
    async with bounded(answering(NODE), near(metrics)) as (target, api):
        assert (await target.get(Node, "n")).metadata.name == "n"
        assert target.manager == "infra"
    assert api.seen[0].headers["authorization"] == "Bearer t"
    text = metrics.render().decode()
    assert 'rest_client_requests_total{code="200",host="target",method="GET"} 1.0' in text
    assert 'host="kubernetes"' not in text


async def test_answer_that_is_too_large_is_not_taken() -> None:
    body = {**NODE, "metadata": {"name": "n", "annotations": {"a": "x" * 20_000}}}
    async with bounded(answering(body)) as (target, _):
        with pytest.raises(TransportError, match="larger than 10000 bytes"):
            await target.get(Node, "n")


async def test_list_without_an_end_is_given_up() -> None:
    page = {"kind": "NodeList", "apiVersion": "v1", "items": [NODE], "metadata": {"continue": "x"}}
    async with bounded(answering(page)) as (target, api):
        with pytest.raises(TransportError, match="more than 3 pages"):
            await target.list(Node)
    assert len(api.seen) == SMALL.pages


async def test_stream_without_an_end_is_given_up() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * 1000)

    async def drain(target: Client) -> None:
        async with target.rest.watch(Node, "", {}) as chunks:
            async for _ in chunks:
                pass

    async with bounded(endless) as (target, _):
        with pytest.raises(TransportError, match="more than 10000 bytes"):
            await drain(target)


async def test_server_that_asks_for_a_days_patience_does_not_get_it() -> None:
    async def busy(request: web.Request) -> web.Response:
        return web.Response(status=503, headers={"retry-after": "86400"})

    async with bounded(busy) as (target, _):
        with pytest.raises(ApiError, match="503"):
            await target.get(Node, "n")


async def test_name_that_leads_to_a_link_local_address_is_not_called_on() -> None:
    # To the resolver this is a name; what it leads to is seen when it is dialled.
    config = Config("https://0xa9fea9fe:1", untrusted=True)
    async with remote_client(near(), config, label="t", limits=SMALL) as target:
        with pytest.raises(ConnectError, match="link-local"):
            await target.get(Node, "n")


async def test_named_server_is_reached_at_any_of_its_addresses() -> None:
    """`localhost` has two addresses on most machines, and the server listens on one of them."""
    async with bounded(answering(NODE), host="localhost") as (target, _):
        assert await target.get(Node, "n")


async def test_who_may_no_longer_write_at_home_writes_nowhere() -> None:
    def lost(_: ApiRequest | None = None) -> None:
        raise NotLeader("the lease is gone")

    async with bounded(answering(NODE), near(fence=lost)) as (target, api):
        with pytest.raises(NotLeader):
            await target.apply(ConfigMap(metadata=ObjectMeta(name="a", namespace="b")))
    assert api.seen == []


class EndlessList:
    """A server that says after every page that there is another."""

    async def request(self, call: ApiRequest) -> ApiResponse:
        return ApiResponse(200, b"x" * 1000)


async def test_a_list_without_an_end_is_left_page_by_page() -> None:
    bounded = BoundedTransport(EndlessList(), SMALL)  # type: ignore[arg-type]
    first = ApiRequest("GET", "/api/v1/nodes", {"limit": "500"})
    more = ApiRequest("GET", "/api/v1/nodes", {"limit": "500", "continue": "again"})
    await bounded.request(first)
    for _ in range(9):
        await bounded.request(more)
    with pytest.raises(TransportError, match="/api/v1/nodes: a list has more than 10000 bytes"):
        await bounded.request(more)
    await bounded.request(first)
    await bounded.request(more)
