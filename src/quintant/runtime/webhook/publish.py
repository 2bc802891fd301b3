"""Telling an API server of our webhooks, from the program itself: for laptops and development.

In production the configurations are manifests, applied by whoever installs the program, and the
program needs no permission to change them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.runtime.client.client import Client
from quintant.runtime.object import Opaque, replace
from quintant.runtime.webhook.configuration import Place
from quintant.runtime.webhook.declaration import Webhooks


def publishing(
    webhooks: Webhooks, place: Place, client: Client
) -> Callable[[bytes], Awaitable[None]]:
    """What makes an API server ask these webhooks at `place` and trust a bundle (PEM).

    It applies the webhook configurations, and patches the definitions of converted kinds.
    """

    async def publish(ca_bundle: bytes) -> None:
        for configuration in webhooks.configurations(place, ca_bundle=ca_bundle):
            await client.apply(configuration)
        conversion = Opaque.of(webhooks.conversion(place, ca_bundle=ca_bundle))
        for declared in webhooks.conversions.values():
            name = declared.hub.full_name
            found = await client.get(CustomResourceDefinition, name, live=True)
            spec = replace(found.spec, conversion=conversion)
            await client.patch(replace(found, spec=spec), since=found)

    return publish
