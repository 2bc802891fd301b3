"""Putting the definitions of our kinds on a cluster, and waiting until it serves them.

The kinds that a manager converts between versions are installed with their conversion: without it,
for a moment at least, objects would lose what the other version does not know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from quintant.api.admission import ServiceReference
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.client.rest import APPLY, MERGE, Patch, Rest
from quintant.client.transport import Transport
from quintant.core import codec
from quintant.core.clock import Random
from quintant.core.errors import ConfigError, NotFound, leaf_errors
from quintant.core.object import Object, Request
from quintant.core.schema.crd import definitions
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.runtime.webhook.definitions import converted_definitions
from quintant.runtime.webhook.handover import FORMER_ADDRESS, conversion_annotation

Plain = Mapping[str, Any]

# A definition is served a moment after it is stored; much longer means that it was not accepted.
ESTABLISH_SECONDS = 30.0


async def install_crds(
    transport: Transport, kinds: Iterable[type[Object]], *, random: Random | None = None
) -> None:
    """Apply the CRD of every custom kind, and return once each is served.

    Built-in kinds, kinds of others and views are passed over. Of several
    failures, which as a rule have one cause, the first is raised. `random` decides how long the
    watches live that wait for it; one's own makes a simulation the same every time.
    """
    await install_definitions(transport, definitions(kinds), random=random)


async def install_manager_crds(transport: Transport, manager: Manager, namespace: str) -> None:
    """Install the kinds of a manager, those that it converts with where its webhooks are.

    That is its `webhook_url`, or else the Service of its name in `namespace`.
    """
    service = ServiceReference(name=manager.name, namespace=namespace)
    endpoint = manager.settings.webhook_url or service
    await install_definitions(
        transport, converted_definitions(manager.kinds(), manager.webhooks, endpoint)
    )


async def install_definitions(
    transport: Transport, crds: Iterable[Plain], *, random: Random | None = None
) -> None:
    """Apply definitions as they are given, and return once each is served."""
    client = Client(Rest(transport), manager="quintant-install", random=random or Random())
    try:
        async with asyncio.TaskGroup() as group:
            for definition in crds:
                group.create_task(_install(client, definition))
    except ExceptionGroup as failed:
        raise leaf_errors(failed)[0] from None


async def _install(client: Client, definition: Plain) -> None:
    name: str = definition["metadata"]["name"]
    if "conversion" in definition["spec"]:
        await _move_conversion(client, name, definition["spec"]["conversion"])
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


async def _move_conversion(client: Client, name: str, conversion: Plain) -> None:
    """Have a definition that exists convert where this one does.

    An apply alone would leave the address that another manager wrote beside ours, and a webhook has
    one address. Where it was before stays in an annotation.
    """
    found = await client.find(CustomResourceDefinition, name, live=True)
    if found is None:
        return
    former = {FORMER_ADDRESS: conversion_annotation(found, conversion)}
    address = {"service": None, "url": None} | conversion["webhook"]["clientConfig"]
    webhook = conversion["webhook"] | {"clientConfig": address}
    spec = {"conversion": dict(conversion) | {"webhook": webhook}}
    changed = {"metadata": {"annotations": former}, "spec": spec}
    patch = Patch(MERGE, codec.encode(changed), idempotent=True)
    query = {"fieldManager": client.manager}
    try:
        await client.rest.patch(CustomResourceDefinition, Request(name), patch, query=query)
    except NotFound:
        return


def _established(definition: CustomResourceDefinition | None) -> bool:
    return definition is not None and definition.established
