"""Putting the definitions of our kinds on a cluster, and waiting until it serves them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.client.rest import APPLY, Patch, Rest
from quintant.client.transport import Transport
from quintant.core import codec
from quintant.core.crd import definitions
from quintant.core.errors import ConfigError, leaf_errors
from quintant.core.object import Object, Request
from quintant.runtime.cache.client import Client

# A definition is served a moment after it is stored; much longer means that it was not accepted.
ESTABLISH_SECONDS = 30.0


async def install_crds(transport: Transport, kinds: Iterable[type[Object]]) -> None:
    """Apply the CRD of every custom kind, and return once each is served.

    Built-in kinds, and views of kinds that somebody else installs, are passed over. Of several
    failures, which as a rule have one cause, the first is raised.
    """
    client = Client(Rest(transport), manager="quintant-install")
    try:
        async with asyncio.TaskGroup() as group:
            for definition in definitions(kinds):
                group.create_task(_install(client, definition))
    except ExceptionGroup as failed:
        raise leaf_errors(failed)[0] from None


async def _install(client: Client, definition: Mapping[str, Any]) -> None:
    name: str = definition["metadata"]["name"]
    patch = Patch(APPLY, codec.encode(definition), idempotent=True)
    query = {"fieldManager": client.manager, "force": "true"}
    await client.rest.patch(CustomResourceDefinition, Request(name), patch, query=query)
    try:
        await client.wait_for(
            CustomResourceDefinition, name, until=_established, timeout=ESTABLISH_SECONDS
        )
    except TimeoutError:
        raise ConfigError(
            f"cannot install {name}",
            because=f"the server did not establish it within {ESTABLISH_SECONDS:g} s",
            hint=f"kubectl describe crd {name}",
        ) from None


def _established(found: CustomResourceDefinition | None) -> bool:
    return found is not None and found.established
