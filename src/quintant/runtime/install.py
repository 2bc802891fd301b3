"""Putting the definitions of our kinds on a cluster, and waiting until it serves them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.runtime import codec
from quintant.runtime.client.client import Client
from quintant.runtime.client.rest import APPLY, Patch, Rest
from quintant.runtime.client.transport import Transport
from quintant.runtime.crd import crd
from quintant.runtime.object import Custom, Object, Request

# A definition is served a moment after it is stored; much longer means that it was not accepted.
ESTABLISH_SECONDS = 30.0


async def install(transport: Transport, kinds: Iterable[type[Object]]) -> None:
    """Apply the CRD of every custom kind, and return once each is served."""
    client = Client(Rest(transport), manager="quintant-install")
    async with asyncio.TaskGroup() as group:
        for kind in kinds:
            if issubclass(kind, Custom):
                group.create_task(_install(client, kind))


async def _install(client: Client, kind: type[Object]) -> None:
    definition = crd(kind)
    name: str = definition["metadata"]["name"]
    patch = Patch(APPLY, codec.encode(definition), idempotent=True)
    query = {"fieldManager": client.manager, "force": "true"}
    await client.rest.patch(CustomResourceDefinition, Request(name), patch, query=query)
    stored = await client.get(CustomResourceDefinition, name)
    await client.wait(stored, _established, ESTABLISH_SECONDS)


def _established(found: CustomResourceDefinition | None) -> bool:
    conditions = found.status.conditions if found is not None and found.status else None
    return any(each.type == "Established" and each.status == "True" for each in conditions or ())
