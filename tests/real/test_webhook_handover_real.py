"""On a real kube-apiserver: webhooks that production manifests put behind a Service are asked on a
laptop, by `--webhook-url`, and go back to the Service afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import pytest
import pytest_asyncio

from quintant import Client
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.client.rest import MERGE
from quintant.core import codec
from quintant.core.errors import ApiError, NotFound
from quintant.core.object import ObjectMeta
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.webhook.selfsigned import LAPTOP, SelfSignedCertificates
from quintant.runtime.webhook.server import WebhookServer
from real.test_webhook_real import PATIENCE_SECONDS, eventually
from testbeds.ports import free_port
from testbeds.webhook_handover import (
    AT_SERVICE,
    OURS,
    THEIRS,
    HandoverTestbed,
    OldShip,
    Ship,
    Sized,
    encoded,
)

pytestmark = pytest.mark.realtime

DEFINITION = "ships.ships.dev"
PATH = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{DEFINITION}"
SHIPS = "/apis/ships.dev/v1/namespaces/default/ships"


class MachineClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class RealHandover(HandoverTestbed):
    """The same, with a program on the laptop that answers."""

    def __init__(self, client: Client) -> None:
        super().__init__(client, f"https://127.0.0.1:{free_port()}")

    @property
    def on_laptop_now(self) -> list[dict[str, str]]:
        """The addresses while the authority is `THEIRS`."""
        return [{"url": self.url, "caBundle": encoded(THEIRS)}] * 3

    @asynccontextmanager
    async def laptop(self) -> AsyncIterator[None]:
        """The program with `--webhook-url`, until it ends in order."""
        source = SelfSignedCertificates(LAPTOP, clock=MachineClock(), publish=self.on_laptop)
        server = WebhookServer(
            self.webhooks, client=self.client, metrics=Metrics(), source=source
        )  # fmt: skip
        async with server.serve(self.url.removeprefix("https://")):
            try:
                yield
            finally:
                await self.laptop_ends()

    async def refusal(self, size: int) -> str:
        """What the server says to a Ship that it is only asked about; empty if it would do."""
        ship = {
            "apiVersion": "ships.dev/v1", "kind": "Ship", "metadata": {"name": "probe"},
            "spec": {"size": size},
        }  # fmt: skip
        try:
            await self.client.raw("POST", f"{SHIPS}?dryRun=All", body=codec.encode(ship))
        except ApiError as error:
            return error.message
        return ""

    async def until_refusal(self, size: int, text: str) -> None:
        """Wait until a Ship is refused like that: the server reads configurations behind."""

        async def check() -> bool:
            found = await self.refusal(size)
            return text in found if text else not found

        await eventually(check)

    async def remove(self) -> None:
        """Leave nothing behind, the configurations first: nobody answers for them any more."""
        for kind, name in self.webhooks.targets():
            if kind is not CustomResourceDefinition:
                with suppress(NotFound):
                    await self.client.delete(await self.client.get(kind, name, live=True))
        with suppress(NotFound):
            none = b'{"spec":{"conversion":{"strategy":"None","webhook":null}}}'
            await self.client.raw("PATCH", PATH, body=none, headers={"content-type": MERGE})
            await self.client.raw("DELETE", PATH)
        await eventually(self._gone)

    async def _gone(self) -> bool:
        found = [
            await self.client.find(kind, name, live=True) for kind, name in self.webhooks.targets()
        ]
        return not any(found)


@pytest_asyncio.fixture
async def testbed(client: Client) -> AsyncIterator[RealHandover]:
    testbed = RealHandover(client)
    try:
        await testbed.apply_manifests()
        definition = await client.get(CustomResourceDefinition, DEFINITION)
        await client.wait(definition, lambda it: bool(it and it.established), PATIENCE_SECONDS)
        await testbed.in_cluster(OURS)
        assert await testbed.addresses() == AT_SERVICE
        yield testbed
    finally:
        await testbed.remove()


async def test_the_laptop_is_asked_and_the_service_is_when_it_ends(testbed: RealHandover) -> None:
    await testbed.until_refusal(1, 'service "ships" not found')
    async with testbed.laptop():
        await testbed.until_refusal(-1, "ships float")
        await testbed.until_refusal(1, "")
        ship = Ship(metadata=ObjectMeta(name="a", namespace="default"), spec=Sized(size=7))
        await testbed.client.create(ship)
        old = await testbed.client.get(OldShip, "a", "default", live=True)
        assert old.spec.size == 7  # which the laptop has converted
        await testbed.in_cluster(OURS)
        assert {each["url"] for each in await testbed.addresses()} == {testbed.url}
        await testbed.client.delete(ship)
    assert await testbed.addresses() == AT_SERVICE
    await testbed.until_refusal(1, 'service "ships" not found')
    await testbed.apply_manifests()
    assert await testbed.addresses() == AT_SERVICE


async def test_a_laptop_that_was_killed_loses_them_to_a_program_that_starts_in_the_cluster(
    testbed: RealHandover,
) -> None:
    await testbed.on_laptop(THEIRS)
    assert await testbed.addresses() == testbed.on_laptop_now
    await RealHandover(testbed.client).in_cluster(OURS)
    assert await testbed.addresses() == AT_SERVICE
    await testbed.laptop_ends()
    assert await testbed.addresses() == AT_SERVICE


async def test_a_laptop_that_renews_its_certificate_remembers_where_they_were(
    testbed: RealHandover,
) -> None:
    await testbed.on_laptop(OURS)
    await testbed.on_laptop(THEIRS)
    assert await testbed.addresses() == testbed.on_laptop_now
    await testbed.laptop_ends()
    assert await testbed.addresses() == AT_SERVICE
