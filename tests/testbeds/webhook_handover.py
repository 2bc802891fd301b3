"""An operator whose manifests put its webhooks behind a Service, and a laptop that takes them over.

    testbed = HandoverTestbed(client)
    await testbed.apply_manifests()
    await testbed.in_cluster(OURS)            # the program in the cluster has made its certificate
    await testbed.on_laptop(THEIRS)           # `quintant run --webhook-url`

The authorities are certificates, as an API server has it; the webhooks ask about Ships alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from quintant import Manager
from quintant.api.admission import ServiceReference
from quintant.client.rest import APPLY, Patch
from quintant.core import codec
from quintant.core.object import Custom, Model, Object, Request
from quintant.core.resource import resource
from quintant.keys.authority import Authority, Validity
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manifests import install_manifests
from quintant.runtime.webhook import Admission, Denied, Spoke, Verdict
from quintant.runtime.webhook.publish import (
    address_restorer,
    ca_bundle_injector,
    configuration_publisher,
)

VALID = Validity(datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
URL = "https://192.0.2.7:9443"
SERVICE = ServiceReference(name="ships", namespace="home")
OURS = Authority.make("the Service", VALID).certificate
THEIRS = Authority.make("the laptop", VALID).certificate


class Sized(Model):
    size: int = 0


@resource(group="ships.dev", version="v1alpha1", kind="Ship", plural="ships", storage=False)
class OldShip(Custom[Sized, None]): ...


@resource(group="ships.dev", version="v1")
class Ship(Custom[Sized, None]): ...


async def judge(_old: Ship | None, new: Ship | None, _: Admission) -> Verdict:
    return Denied("ships float") if new is not None and new.spec.size < 0 else None


async def keep(new: Ship, _: Admission) -> Ship:
    return new


def ships() -> Manager:
    manager = Manager("ships")
    manager.webhooks.validating(Ship, judge)
    manager.webhooks.mutating(Ship, keep)
    manager.webhooks.converting(Ship, {"v1alpha1": Spoke(dict, dict, kind=OldShip)})
    return manager


class HandoverTestbed:
    """A cluster on which the manifests were applied, and both programs."""

    def __init__(self, client: Client, url: str = URL) -> None:
        self.webhooks, self.url = ships().webhooks, url
        self.client = client.with_field_manager("ships-webhooks")
        self.in_cluster = ca_bundle_injector(self.webhooks, SERVICE, self.client)
        self.on_laptop = configuration_publisher(self.webhooks, url, self.client)
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
            found += self._addresses(await self.client.get(kind, name, live=True))
        return found

    def _addresses(self, obj: Object) -> Iterator[Any]:
        plain = codec.to_plain(obj)
        conversion = plain.get("spec", {}).get("conversion", {}).get("webhook")
        for each in [conversion] if conversion else plain["webhooks"]:
            config = each["clientConfig"]
            if "url" in config:
                config["url"] = config["url"][: len(self.url)]
            if "service" in config:
                config["service"] = config["service"]["name"]
            yield config


def encoded(bundle: bytes) -> str:
    """A bundle as it stands in JSON."""
    return str(msgspec.json.decode(msgspec.json.encode(bundle)))


AT_SERVICE = [{"service": "ships", "caBundle": encoded(OURS)}] * 3
ON_LAPTOP = [{"url": URL, "caBundle": encoded(THEIRS)}] * 3
