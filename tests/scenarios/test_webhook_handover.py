"""An operator is in production, and is debugged elsewhere: its webhooks go there and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from quintant import Manager
from quintant.api.admission import ServiceReference
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.api.core import ConfigMap
from quintant.client.rest import APPLY, Patch
from quintant.core import codec
from quintant.core.object import Custom, Model, Object, Request
from quintant.core.resource import resource
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.install_crds import install_manager_crds
from quintant.runtime.manager.manifests import install_manifests
from quintant.runtime.webhook import Admission, Spoke
from quintant.runtime.webhook.publish import (
    address_restorer,
    ca_bundle_injector,
    configuration_publisher,
)
from quintant.testing import InProcessCluster

URL = "https://192.0.2.7:9443"
SERVICE = ServiceReference(name="ships", namespace="home")
OURS, THEIRS = b"authority of the Service", b"authority of the laptop"


class Sized(Model):
    size: int = 0


@resource(group="ships.dev", version="v1alpha1", kind="Ship", plural="ships", storage=False)
class OldShip(Custom[Sized, None]): ...


@resource(group="ships.dev", version="v1")
class Ship(Custom[Sized, None]): ...


async def allow(_old: ConfigMap | None, _new: ConfigMap | None, _: Admission) -> None:
    """Anything goes."""


async def keep(new: ConfigMap, _: Admission) -> ConfigMap:
    return new


def ships() -> Manager:
    manager = Manager("ships")
    manager.webhooks.validating(ConfigMap, allow)
    manager.webhooks.mutating(ConfigMap, keep)
    manager.webhooks.converting(Ship, {"v1alpha1": Spoke(dict, dict, kind=OldShip)})
    return manager


class World:
    """A cluster on which the manifests were applied, and both programs."""

    def __init__(self, client: Client) -> None:
        self.webhooks = ships().webhooks
        self.client = client.with_field_manager("ships-webhooks")
        self.in_cluster = ca_bundle_injector(self.webhooks, SERVICE, self.client)
        self.on_laptop = configuration_publisher(self.webhooks, URL, self.client)
        self.laptop_ends = address_restorer(self.webhooks, self.client)

    async def apply_manifests(self) -> None:
        """What `kubectl apply --server-side` does."""
        manifests = install_manifests(ships(), "home")
        for obj in [*manifests["crds"], *manifests["webhooks"]]:
            kinds = {kind.__name__: kind for kind, _ in self.webhooks.targets()}
            patch = Patch(APPLY, codec.encode(obj), idempotent=True)
            at = Request(obj["metadata"]["name"])
            query = {"fieldManager": "kubectl"}
            await self.client.rest.patch(kinds[obj["kind"]], at, patch, query=query)

    async def addresses(self) -> list[Any]:
        """The clientConfig of everything that has one, without paths."""
        found: list[Any] = []
        for kind, name in self.webhooks.targets():
            found += _addresses(await self.client.get(kind, name, live=True))
        return found


def _addresses(obj: Object) -> Iterator[Any]:
    plain = codec.to_plain(obj)
    conversion = plain.get("spec", {}).get("conversion", {}).get("webhook")
    for each in [conversion] if conversion else plain["webhooks"]:
        config = each["clientConfig"]
        if "url" in config:
            config["url"] = config["url"][: len(URL)]
        if "service" in config:
            config["service"] = config["service"]["name"]
        yield config


def _encoded(bundle: bytes) -> str:
    return str(msgspec.json.decode(msgspec.json.encode(bundle)))


AT_SERVICE = [{"service": "ships", "caBundle": _encoded(OURS)}] * 3
ON_LAPTOP = [{"url": URL, "caBundle": _encoded(THEIRS)}] * 3


@contextmanager
def lines() -> Iterator[list[str]]:
    found: list[str] = []
    with capture_logs() as entries:
        yield found
    found += [f"{each['event']} {each.get('object')}" for each in entries]


@pytest.fixture
async def world(cluster: InProcessCluster) -> World:
    world = World(cluster.client)
    await world.apply_manifests()
    await world.in_cluster(OURS)
    assert await world.addresses() == AT_SERVICE
    return world


async def test_webhooks_that_manifests_put_behind_a_service_are_asked_at_the_url(
    world: World,
) -> None:
    with lines() as logged:
        await world.on_laptop(THEIRS)
    assert await world.addresses() == ON_LAPTOP
    assert logged == [
        "moved webhooks here from their Service ships-mutating-webhook-configuration",
        "moved webhooks here from their Service ships-validating-webhook-configuration",
        "moved conversion here from its Service ships.ships.dev",
    ]


async def test_program_that_runs_in_the_cluster_leaves_them_there_and_says_so_once(
    world: World,
) -> None:
    await world.on_laptop(THEIRS)
    with lines() as logged:
        await world.in_cluster(OURS)
        await world.in_cluster(OURS)
    assert await world.addresses() == ON_LAPTOP
    assert [line.rpartition(" ")[0] for line in logged] == [
        "left webhooks to a program with --webhook-url"
    ] * 3


async def test_program_that_ends_gives_them_back_as_they_were(world: World) -> None:
    await world.on_laptop(THEIRS)
    await world.laptop_ends()
    assert await world.addresses() == AT_SERVICE
    with lines() as logged:
        await world.in_cluster(OURS)
        await world.laptop_ends()
    assert logged == []


async def test_program_that_was_killed_loses_them_to_the_one_that_starts_in_the_cluster(
    world: World,
) -> None:
    await world.on_laptop(THEIRS)
    with lines() as logged:
        await World(world.client).in_cluster(OURS)
    assert await world.addresses() == AT_SERVICE
    assert len(logged) == 3
    await world.laptop_ends()
    assert await world.addresses() == AT_SERVICE


async def test_manifests_can_be_applied_again_when_they_are_back(world: World) -> None:
    await world.on_laptop(THEIRS)
    await world.laptop_ends()
    await world.apply_manifests()
    assert await world.addresses() == AT_SERVICE


async def test_laptop_that_renews_its_certificate_remembers_where_they_were(world: World) -> None:
    await world.on_laptop(OURS)
    await world.on_laptop(THEIRS)
    assert await world.addresses() == ON_LAPTOP
    await world.laptop_ends()
    assert await world.addresses() == AT_SERVICE


async def test_definitions_that_the_laptop_installs_first_are_given_back_too(world: World) -> None:
    manager = ships()
    manager.configure(webhook_url=URL)
    await install_manager_crds(world.client.rest.transport, manager, "home")
    await world.on_laptop(THEIRS)
    assert await world.addresses() == ON_LAPTOP
    await world.laptop_ends()
    assert await world.addresses() == AT_SERVICE


async def test_what_the_laptop_made_itself_stays_as_it_is(cluster: InProcessCluster) -> None:
    world, manager = World(cluster.client), ships()
    manager.configure(webhook_url=URL)
    await install_manager_crds(cluster.admin, manager, "home")
    await world.on_laptop(THEIRS)
    await world.laptop_ends()
    assert await world.addresses() == ON_LAPTOP


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"a":1}', '{"webhook":[]}'])
async def test_annotation_that_makes_no_sense_changes_nothing(world: World, text: str) -> None:
    for kind, name in world.webhooks.targets():
        found = await world.client.get(kind, name, live=True)
        await world.client.annotate(found, {"quintant.dev/former-webhook-address": text})
    await world.laptop_ends()
    assert await world.addresses() == AT_SERVICE
    definition = await world.client.get(CustomResourceDefinition, "ships.ships.dev", live=True)
    assert definition.spec.conversion is not None
