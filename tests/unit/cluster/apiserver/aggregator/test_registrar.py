"""What an APIService says of its server is written when it changes, however often one looks."""

from __future__ import annotations

import asyncio

from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import Api
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
