"""A program with webhooks, `quintant run`, beside a cluster, `quintant up`: both as processes."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
import yaml

import patience
from examples_support import EXAMPLES
from foreign.process import free_ports
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import APPLY
from quintant.client.transport import JSON, ApiRequest, ApiResponse
from quintant.cluster.instance.pki import ADMIN
from quintant.core.codec import encode
from scenarios.program import QUINTANT, running
from scenarios.up import up

pytestmark = pytest.mark.realtime

EXAMPLE = EXAMPLES / "06_webhooks.py"
TOPICS = "/apis/demo.dev/v1/namespaces/default/topics"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
AUTHOR = "demo.dev/created-by"
PATIENCE_SECONDS = 30.0
POLL_SECONDS = 0.05


def own_url() -> tuple[str, ...]:
    """The options of a program whose webhooks are asked at a port of this machine."""
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    return "--install-crds", "--webhook", address, "--webhook-url", f"https://{address}"


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with up(tmp_path) as kubeconfig:
        yield kubeconfig


@pytest_asyncio.fixture
async def transport(kubeconfig: Path) -> AsyncIterator[HttpTransport]:
    opened = HttpTransport(Config.load(kubeconfig))
    yield opened
    await opened.close()


async def apply_manifests(transport: HttpTransport) -> list[str]:
    """Apply the webhooks that `quintant manifests` prints; the paths of their configurations."""
    command = [str(QUINTANT), "manifests", str(EXAMPLE), "-n", "default"]
    printed = await asyncio.to_thread(subprocess.check_output, command)
    paths = []
    for obj in yaml.safe_load_all(printed):
        if obj["kind"].endswith("WebhookConfiguration"):
            paths.append(f"{CONFIGURATIONS}/{obj['kind'].lower()}s/{obj['metadata']['name']}")
            query = {"fieldManager": "kubectl"}
            await transport.request(
                ApiRequest("PATCH", paths[-1], query, {"content-type": APPLY}, encode(obj))
            )
    return paths


async def addresses(transport: HttpTransport, paths: list[str]) -> set[str]:
    """Which fields say where the webhooks are."""
    replies = [await transport.request(ApiRequest("GET", path, {}, {})) for path in paths]
    webhooks = [each for reply in replies for each in msgspec.json.decode(reply.body)["webhooks"]]
    return {name for each in webhooks for name in each["clientConfig"]} - {"caBundle"}


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


async def test_a_program_registers_its_webhooks_and_is_asked(
    kubeconfig: Path, transport: HttpTransport
) -> None:
    with running(EXAMPLE, kubeconfig, *own_url()):
        assert await signed(transport) == ADMIN
        reply = await create(transport, "warned", partitions=1, retentionHours=0)
    assert reply.status == 201
    assert "for ever" in reply.headers["warning"]


async def test_a_program_is_asked_instead_of_the_service_of_its_manifests_while_it_runs(
    kubeconfig: Path, transport: HttpTransport
) -> None:
    paths = await apply_manifests(transport)
    assert await addresses(transport, paths) == {"service"}
    with running(EXAMPLE, kubeconfig, *own_url()) as program:
        assert await signed(transport) == ADMIN
        assert await addresses(transport, paths) == {"url"}
        assert await program.stop() == 0
    assert await addresses(transport, paths) == {"service"}
