"""Telling an API server of our webhooks, from the program itself.

On a laptop the program registers its webhooks whole. In production the configurations are
manifests, applied by whoever installs it, and the program adds no more than the authorities to
trust: it needs to read and patch exactly these objects.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.core.object import Opaque, replace
from quintant.runtime.cache.client import Client
from quintant.runtime.webhook.configuration import Configuration, Place
from quintant.runtime.webhook.declaration import WebhookDeclarations

Publish = Callable[[bytes], Awaitable[None]]
"""Makes API servers trust these authorities (PEM)."""


def configuration_publisher(webhooks: WebhookDeclarations, place: Place, client: Client) -> Publish:
    """What makes an API server ask these webhooks at `place` and trust a bundle.

    It applies the webhook configurations, and patches the definitions of converted kinds.
    """

    async def publish(ca_bundle: bytes) -> None:
        for configuration in webhooks.configurations(place, ca_bundle=ca_bundle):
            await client.apply(configuration)
        await _convert(webhooks, place, client, ca_bundle)

    return publish


def ca_bundle_injector(webhooks: WebhookDeclarations, place: Place, client: Client) -> Publish:
    """What makes an API server trust a bundle for the webhooks that it knows already.

    A configuration that is not there is not missed: then nobody wants to be asked.
    """

    async def publish(ca_bundle: bytes) -> None:
        for wanted in webhooks.configurations(place, ca_bundle=ca_bundle):
            found = await client.find(type(wanted), wanted.metadata.name, live=True)
            if found is not None:
                await _inject(found, client, ca_bundle)
        await _convert(webhooks, place, client, ca_bundle)

    return publish


async def _inject(found: Configuration, client: Client, ca_bundle: bytes) -> None:
    operations = [
        operation
        for at, webhook in enumerate(found.webhooks)
        if webhook.client_config.ca_bundle != ca_bundle
        for operation in (
            # Somebody may put another one in its place meanwhile.
            {"op": "test", "path": f"/webhooks/{at}/name", "value": webhook.name},
            {"op": "add", "path": f"/webhooks/{at}/clientConfig/caBundle", "value": ca_bundle},
        )
    ]
    if operations:
        await client.json_patch(type(found), found.metadata, operations)


async def _convert(
    webhooks: WebhookDeclarations, place: Place, client: Client, ca_bundle: bytes
) -> None:
    conversion = Opaque.of(webhooks.conversion(place, ca_bundle=ca_bundle))
    for declared in webhooks.conversions.values():
        found = await client.get(CustomResourceDefinition, declared.hub.full_name, live=True)
        spec = replace(found.spec, conversion=conversion)
        await client.patch(replace(found, spec=spec), since=found)
