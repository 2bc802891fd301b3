"""A program with webhooks, `quintant run`, beside a cluster, `quintant up`: both as processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

import patience
from examples_support import EXAMPLES
from foreign.process import free_ports
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import JSON, ApiRequest, ApiResponse
from quintant.cluster.instance.pki import ADMIN
from scenarios.program import running
from scenarios.up import up

pytestmark = pytest.mark.realtime

EXAMPLE = EXAMPLES / "06_webhooks.py"
TOPICS = "/apis/demo.dev/v1/namespaces/default/topics"
AUTHOR = "demo.dev/created-by"
PATIENCE_SECONDS = 30.0
POLL_SECONDS = 0.05


@pytest_asyncio.fixture
async def transport(tmp_path: Path) -> AsyncIterator[HttpTransport]:
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    webhook = ("--install-crds", "--webhook", address, "--webhook-url", f"https://{address}")
    with up(tmp_path) as kubeconfig, running(EXAMPLE, kubeconfig, *webhook):
        opened = HttpTransport(Config.load(kubeconfig))
        yield opened
        await opened.close()


async def create(transport: HttpTransport, name: str, **spec: Any) -> ApiResponse:
    head = {"apiVersion": "demo.dev/v1", "kind": "Topic"}
    body = msgspec.json.encode({**head, "metadata": {"name": name}, "spec": spec})
    return await transport.request(ApiRequest("POST", TOPICS, {}, {"content-type": JSON}, body))


async def signed(transport: HttpTransport) -> str:
    """Who made a topic, as soon as the webhooks are asked about new ones."""
    async with patience.within(PATIENCE_SECONDS):
        for attempt in count():
            reply = await create(transport, f"t{attempt}", partitions=3)
            if reply.status == 201:
                metadata = msgspec.json.decode(reply.body)["metadata"]
                if author := metadata.get("annotations", {}).get(AUTHOR):
                    return str(author)
            await asyncio.sleep(POLL_SECONDS)
    raise AssertionError("time goes on")


async def test_a_program_registers_its_webhooks_and_is_asked(transport: HttpTransport) -> None:
    assert await signed(transport) == ADMIN
    reply = await create(transport, "warned", partitions=1, retentionHours=0)
    assert reply.status == 201
    assert "for ever" in reply.headers["warning"]
