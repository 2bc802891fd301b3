"""What an APIService says of its server is written when it changes, however often one looks."""

from __future__ import annotations

import asyncio
import logging

import pytest

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CRDS, Api, foo_definition
from unit.cluster.apiserver.aggregator.extension_server import (
    API_SERVICE,
    API_SERVICES,
    FRONT_PROXY,
    api_service,
    available,
)


async def test_a_server_that_stays_away_for_hours_is_said_to_once() -> None:
    server = ApiServer(front_proxy=FRONT_PROXY)
    async with server.aggregator.running():
        api = Api(server)
        await api.create(API_SERVICES, api_service())
        await available(api, "ServiceNotFound")
        said = await api.get(API_SERVICE)
        await asyncio.sleep(3600)
        assert await api.get(API_SERVICE) == said


async def test_a_stored_one_that_cannot_be_written_harms_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = ApiServer(front_proxy=FRONT_PROXY)
    kind = server.catalog.find("apiregistration.k8s.io", "v1", "apiservices")
    assert kind is not None
    nobodys = api_service()  # as a damaged file may have it: without all that a server gives
    table = server.store.table(kind.table)
    entry = stored_json.pack(kind, nobodys, server.store.revision + 1)
    server.store.put(table, nobodys["metadata"]["name"], entry)
    with caplog.at_level(logging.CRITICAL):
        async with server.aggregator.running():
            await asyncio.sleep(60)
            api = Api(server)
            await api.create(CRDS, foo_definition())
            await asyncio.sleep(60)
            assert "v1.example.com" in await api.names(API_SERVICES)
