"""`quintant finalizers`: let objects go whose controller is gone, before they block a namespace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from quintant.api.admission import ServiceReference
from quintant.cli.client import open_client
from quintant.client.config.config import Config
from quintant.core.errors import ConfigError, NotFound, ServerError, Undecodable
from quintant.core.object import Metadata, Object, ObjectMeta
from quintant.core.resource import is_custom_kind, resource_of
from quintant.operators import OPERATORS, manager_of
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.loading import load_manager
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.finalizer import Finalizer, remove_finalizer

_NO_ANSWER = "failed calling webhook"
Held = tuple[type[Object], Finalizer[Any]]
"""A kind, and the finalizer that a program puts on its objects."""


@dataclass(frozen=True, slots=True)
class WaitingObject:
    """An object that waits, and what stays outside when it goes."""

    kind: type[Object]
    meta: ObjectMeta
    names: tuple[str, ...]
    leaves: str = ""

    def __str__(self) -> str:
        suffix = f" in {self.meta.namespace}" if self.meta.namespace else ""
        stays = f": {self.leaves} stays" if self.leaves else ""
        return f"{resource_of(self.kind).plural}/{self.meta.name}{suffix}{stays}"


@click.group("finalizers")
def command() -> None:
    """Let objects go that wait for a controller which is no more."""


@command.command("release")
@click.argument("target", metavar="OPERATOR_MODULE_OR_FILE")
@click.argument("name", required=False)
@click.option("--namespace", "-n", default="", help="Only in this namespace.")
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Instead of the usual places.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def release(
    target: str, name: str | None, namespace: str, kubeconfig: Path | None, yes: bool
) -> None:
    """Take a program's finalizers off its objects, or off the one called NAME.

    Nothing is cleaned up: what the objects stand for outside the cluster stays there, and is named.
    Use it when the program is uninstalled, or cannot clean up any more.
    """
    manager = manager_of(target) if target in OPERATORS else load_manager(target)
    config = Config.load(kubeconfig) if kubeconfig else Config.discover()
    asyncio.run(_release(config, manager, name, namespace, ask=not yes))


async def _release(
    config: Config, manager: Manager, name: str | None, namespace: str, *, ask: bool
) -> None:
    async with open_client(config, "quintant-finalizers") as client:
        found = [
            each
            for held in held_kinds(manager)
            for each in await find_held(client, held, name, namespace)
        ]
        if name is None:
            found += await find_held_besides(client, manager, namespace)
        for each in found:
            click.echo(str(each))
        if found and ask:
            click.confirm(f"Let these {len(found)} objects go without cleanup?", abort=True)
        for each in found:
            with _explained(manager, each):
                await remove_finalizer(client, each.kind, each.meta, *each.names)
    click.echo(f"released {len(found)} objects")


def held_kinds(manager: Manager) -> list[Held]:
    """The kinds that a program holds, with its finalizers."""
    return [
        (declared.kind, declared.finalizer)
        for declared in manager.declarations
        if declared.kind is not None and declared.finalizer is not None
    ]


async def find_held(
    client: Client, held: Held, name: str | None = None, namespace: str = ""
) -> Sequence[WaitingObject]:
    """The objects of a kind that have a finalizer by any of its names; none if it is not served."""
    kind, finalizer = held
    view = Metadata[kind]  # type: ignore[valid-type]
    try:
        listed = await client.list(view, namespace, live=True)
    except NotFound:
        # Its definition is gone, and so are its objects.
        return []
    return [
        WaitingObject(
            kind, obj.metadata, finalizer.names, await _leaves(client, held, obj.metadata)
        )
        for obj in listed
        if set(finalizer.names) & set(obj.metadata.finalizers) and name in (None, obj.metadata.name)
    ]


async def find_held_besides(
    client: Client, manager: Manager, namespace: str = ""
) -> list[WaitingObject]:
    """What a program holds beside its own kinds: Secrets that it may patch, and put its name on."""
    domains = tuple(f"{finalizer.name.partition('/')[0]}/" for _, finalizer in held_kinds(manager))
    patched = {
        use.kind: None
        for declared in manager.declarations
        for use in declared.uses
        if "patch" in use.verbs and not use.sub and not is_custom_kind(use.kind)
    }
    found = []
    for kind in patched if domains else ():
        for obj in await client.list(Metadata[kind], namespace, live=True):  # type: ignore[valid-type]
            ours = tuple(each for each in obj.metadata.finalizers if each.startswith(domains))
            if ours:
                found.append(WaitingObject(kind, obj.metadata, ours))
    return found


async def _leaves(client: Client, held: Held, meta: ObjectMeta) -> str:
    kind, finalizer = held
    if finalizer.leaves is None:
        return ""
    try:
        obj = await client.find(kind, meta.name, meta.namespace, live=True)
        return finalizer.leaves(obj) if obj is not None else ""
    except Undecodable as unfit:
        return f"nobody can tell what stays outside, for {unfit.why}"


@contextmanager
def _explained(manager: Manager, held: WaitingObject) -> Iterator[None]:
    """Say what to do where a webhook is in the way whose program is gone, too."""
    try:
        yield
    except ServerError as error:
        if _NO_ANSWER not in error.message:
            raise
        service = ServiceReference(name=manager.name, namespace="")
        found = manager.webhooks.configurations(service)
        names = [f"{resource_of(type(each)).kind.lower()}/{each.metadata.name}" for each in found]
        raise ConfigError(
            f"cannot release {held}",
            because=error.message,
            hint=f"kubectl delete {' '.join(names)}",
        ) from None
