"""Telling an API server of our webhooks, from the program itself.

On a laptop the program registers its webhooks whole. In production the configurations are
manifests, applied by the user who installs it, and the program adds no more than the authorities to
trust: it needs to read and patch exactly these objects.

Where manifests name a Service already, the program on a laptop moves the webhooks to itself, and
gives them back when it ends. A program in the cluster that runs meanwhile leaves them alone; one
that starts takes them back (`handover`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.core.errors import Conflict
from quintant.core.object import Opaque
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.webhook.configuration import Configuration, WebhookEndpoint
from quintant.runtime.webhook.declaration import WebhookDeclarations
from quintant.runtime.webhook.handover import (
    FORMER_ADDRESS,
    former_address,
    former_conversion,
    move_operations,
    return_operations,
    with_conversion,
)

ATTEMPTS = 5
"""To write a definition that others write, too: its status changes as it is established."""

Publish = Callable[[bytes], Awaitable[None]]
"""Makes API servers trust these authorities (PEM)."""

Restore = Callable[[], Awaitable[None]]
"""Gives webhooks that were moved the addresses back that they had."""

log: Final = get_logger()


def configuration_publisher(
    webhooks: WebhookDeclarations, endpoint: WebhookEndpoint, client: Client
) -> Publish:
    """What makes an API server ask these webhooks at `endpoint` and trust a bundle.

    It applies the webhook configurations, and patches the definitions of converted kinds. Those
    that name a Service are moved, if `endpoint` is a URL: `address_restorer` moves them back.
    """

    async def publish(ca_bundle: bytes) -> None:
        for configuration in webhooks.configurations(endpoint, ca_bundle=ca_bundle):
            await _move(configuration, client)
            await client.apply(configuration)
        conversion = Opaque.of(webhooks.conversion(endpoint, ca_bundle=ca_bundle))
        for name in _converted(webhooks):
            definition = await client.get(CustomResourceDefinition, name, live=True)
            await _set_conversion(client, definition, conversion)

    return publish


def address_restorer(webhooks: WebhookDeclarations, client: Client) -> Restore:
    """What gives the webhooks that were moved away from a Service back to it; others stay."""

    async def restore() -> None:
        for kind, name in webhooks.targets():
            stored = await client.find(kind, name, live=True)
            if isinstance(stored, CustomResourceDefinition):
                await _return_conversion(stored, client)
            elif isinstance(stored, Configuration):
                await _return(stored, client)

    return restore


def ca_bundle_injector(
    webhooks: WebhookDeclarations, endpoint: WebhookEndpoint, client: Client
) -> Publish:
    """What makes an API server trust a bundle for the webhooks that it knows already.

    A configuration that is not there is not missed: the user wants no webhook then. Those that a
    program on a laptop has moved to itself are taken back by the first call, and left alone
    by later ones: it began after this program did.
    """
    restore, restored = address_restorer(webhooks, client), False
    lent: set[str] = set()

    async def publish(ca_bundle: bytes) -> None:
        nonlocal restored
        if not restored:
            await restore()
            restored = True
        for wanted in webhooks.configurations(endpoint, ca_bundle=ca_bundle):
            stored = await client.find(type(wanted), wanted.metadata.name, live=True)
            if stored is not None and not _is_lent(stored, lent):
                await _inject(stored, client, ca_bundle)
        conversion = Opaque.of(webhooks.conversion(endpoint, ca_bundle=ca_bundle))
        for name in _converted(webhooks):
            definition = await client.get(CustomResourceDefinition, name, live=True)
            if not _is_lent(definition, lent):
                await _set_conversion(client, definition, conversion)

    return publish


def _converted(webhooks: WebhookDeclarations) -> list[str]:
    return [declared.hub.full_name for declared in webhooks.conversions.values()]


def _is_lent(obj: Configuration | CustomResourceDefinition, before: set[str]) -> bool:
    """Whether a program elsewhere answers for it now; the first time it is logged."""
    name, moved = obj.metadata.name, bool(former_address(obj))
    if moved and name not in before:
        log.warning("left webhooks to a program with --webhook-url", object=name)
    (before.add if moved else before.discard)(name)
    return moved


async def _move(wanted: Configuration, client: Client) -> None:
    stored = await client.find(type(wanted), wanted.metadata.name, live=True)
    operations = [] if stored is None else move_operations(stored, wanted)
    if stored is not None and operations:
        await client.json_patch(type(stored), stored.metadata, operations)
        log.warning("moved webhooks here from their Service", object=stored.metadata.name)


async def _return(stored: Configuration, client: Client) -> None:
    if operations := return_operations(stored):
        await client.json_patch(type(stored), stored.metadata, operations)
        log.warning("gave webhooks back to their Service", object=stored.metadata.name)


async def _return_conversion(stored: CustomResourceDefinition, client: Client) -> None:
    if conversion := former_conversion(stored):
        await _set_conversion(client, stored, conversion)


async def _inject(configuration: Configuration, client: Client, ca_bundle: bytes) -> None:
    operations = [
        operation
        for at, webhook in enumerate(configuration.webhooks)
        if webhook.client_config.ca_bundle != ca_bundle
        for operation in (
            # Another client may put another one in its place meanwhile.
            {"op": "test", "path": f"/webhooks/{at}/name", "value": webhook.name},
            {"op": "add", "path": f"/webhooks/{at}/clientConfig/caBundle", "value": ca_bundle},
        )
    ]
    if operations:
        await client.json_patch(type(configuration), configuration.metadata, operations)


async def _set_conversion(
    client: Client, stored: CustomResourceDefinition, conversion: Opaque
) -> None:
    """Have a definition say where to ask; replicas that begin together do so at once."""
    for attempt in range(1, ATTEMPTS + 1):
        wanted = with_conversion(stored, conversion)
        try:
            await client.patch(wanted, since=stored)
        except Conflict:
            if attempt == ATTEMPTS:
                raise
            stored = await client.get(CustomResourceDefinition, stored.metadata.name, live=True)
        else:
            _log_handover(stored, wanted)
            return


def _log_handover(before: CustomResourceDefinition, after: CustomResourceDefinition) -> None:
    name = after.metadata.name
    was, now = (FORMER_ADDRESS in each.metadata.annotations for each in (before, after))
    if now and not was:
        log.warning("moved conversion here from its Service", object=name)
    elif was and not now:
        log.warning("gave conversion back to its Service", object=name)
