"""History that a server has forgotten: a list can go on, though no more as it was begun."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from conformance.target import Target, decoded, until
from envtest import RealCluster
from envtest.compaction import compact
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import config_map

EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


class Library:
    """Numbered objects on a server that can be made to forget."""

    def __init__(self, target: Target, forget: Callable[[str], Awaitable[None]]) -> None:
        self.target, self.label = target, uuid4().hex[:8]
        self.path, self._forget = target.path("configmaps"), forget

    async def add(self, *numbers: int) -> None:
        for at in numbers:
            name = f"{self.label}-{at}"
            await self.target.create(self.path, config_map(name, labels={"check": self.label}))

    async def page(self, **query: Any) -> ApiResponse:
        return await self.target.send(
            "GET", self.path, labelSelector=f"check={self.label}", **query
        )

    async def forget(self) -> None:
        await self._forget(await self.target.revision())


def numbers(reply: ApiResponse) -> list[int]:
    return [int(item["metadata"]["name"][-1]) for item in decoded(reply.body)["items"]]


@asynccontextmanager
async def library(
    config: Config, forget: Callable[[str], Awaitable[None]]
) -> AsyncIterator[Library]:
    transport = HttpTransport(config)
    try:
        yield Library(Target(transport, "default"), forget)
    finally:
        await transport.close()


@pytest_asyncio.fixture(params=["embedded", "real"])
async def books(request: pytest.FixtureRequest) -> AsyncIterator[Library]:
    if request.param == "embedded":
        server = ApiServer()

        async def forget(revision: str) -> None:
            server.compact()

        async with serve(server) as url, library(Config(url), forget) as found:
            yield found
    else:
        cluster: RealCluster = request.getfixturevalue("real_cluster")
        if not cluster.store:
            pytest.skip("the etcd of a cluster that was given to us is not ours")

        async def compacted(revision: str) -> None:
            await asyncio.to_thread(compact, cluster.store, revision)

        async with library(Config.load(cluster.kubeconfig), compacted) as found:
            yield found


async def test_a_list_goes_on_after_its_moment_is_forgotten(books: Library) -> None:
    await books.add(0, 1, 2, 3)
    first = await books.page(limit="2")
    token = decoded(first.body)["metadata"]["continue"]
    await books.add(4)
    await books.forget()

    async def second() -> ApiResponse:
        return await books.page(limit="2", **{"continue": token})

    refused = await until(second, lambda reply: reply.status != 200)
    status = decoded(refused.body)
    assert (refused.status, status["reason"], status["message"]) == (410, "Expired", EXPIRED)
    rest = await books.page(limit="9", **{"continue": status["metadata"]["continue"]})
    assert (numbers(first), numbers(rest)) == ([0, 1], [2, 3, 4])
    then = decoded(first.body)["metadata"]["resourceVersion"]
    exact = await books.page(resourceVersion=then, resourceVersionMatch="Exact")
    assert (exact.status, decoded(exact.body)["message"]) == (
        410,
        "The resourceVersion for the provided list is too old.",
    )
