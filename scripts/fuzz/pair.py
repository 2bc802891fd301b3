"""Both servers at once: what each made of a sequence, and the first difference."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import msgspec

from fuzz.difference import Difference, difference
from fuzz.normalize import normal
from fuzz.player import Player, Record
from fuzz.steps import Step
from fuzz.widgets import DEFINITION, WIDGET
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest, Transport
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.apiserver.server.server import ApiServer

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACE = "fuzz-embedded"
SETTLE_SECONDS = 3.0
"""A real server takes its time before it lets objects of a new kind be made."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The embedded server and a real one."""

    real: Transport

    async def compare(self, steps: Sequence[Step]) -> Difference | None:
        """Play steps on both."""
        return difference(await embedded(steps), await self.told(steps))

    async def told(self, steps: Sequence[Step]) -> Record:
        """What the real server makes of steps, in a fresh namespace."""
        player = Player(self.real, f"fuzz-{uuid4().hex[:8]}")
        record = normal(await player.play(steps))
        await player.clear(steps)
        return record


async def embedded(steps: Sequence[Step]) -> Record:
    """What a new embedded server makes of steps, over HTTP."""
    async with serve(ApiServer()) as url:
        transport = HttpTransport(Config(url))
        try:
            await define(transport)
            return normal(await Player(transport, NAMESPACE).play(steps))
        finally:
            await transport.close()


@asynccontextmanager
async def paired(config: Config) -> AsyncIterator[Pair]:
    """A pair with the real server of a configuration."""
    transport = HttpTransport(config)
    try:
        if not await define(transport):
            await asyncio.sleep(SETTLE_SECONDS)
        yield Pair(transport)
    finally:
        await transport.close()


async def define(transport: Transport) -> bool:
    """Install the custom kind; whether it is served at once."""
    headers = {"content-type": "application/json"}
    body = msgspec.json.encode(DEFINITION)
    reply = await transport.request(ApiRequest("POST", CRDS, {}, headers, body))
    assert reply.status in (201, 409), reply.body
    found = await transport.request(ApiRequest("GET", WIDGET.path("default")))
    return found.status == 200
