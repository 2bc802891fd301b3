"""`quintant finalizers`: let objects go whose controller is gone, before they block a namespace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from quintant.cli.client import open_client
from quintant.client.config.config import Config
from quintant.core.object import Metadata, Object
from quintant.core.resource import resource_of
from quintant.runtime.cache.client import Client
from quintant.runtime.controller import finalizer
from quintant.runtime.manager.loading import load_manager


@click.group("finalizers")
def command() -> None:
    """Let objects go that wait for a controller which is no more."""


@command.command("release")
@click.argument("target", metavar="MODULE_OR_FILE")
@click.argument("name", required=False)
@click.option("--namespace", "-n", default="", help="Only in this namespace.")
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Instead of the usual places.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def release(
    target: str, name: str | None, namespace: str, kubeconfig: Path | None, yes: bool
) -> None:
    """Take a program's finalizers off its objects, or off the one called NAME.

    Nothing is cleaned up: what the objects stand for outside the cluster stays there. Use it when
    the program is uninstalled, or cannot clean up any more.
    """
    held = [
        (declared.kind, declared.finalizer.names)
        for declared in load_manager(target).declarations
        if declared.kind is not None and declared.finalizer is not None
    ]
    if not yes:
        names = ", ".join(sorted({name for _, each in held for name in each})) or "nothing"
        click.confirm(f"Release {names} without cleanup?", abort=True)
    config = Config.load(kubeconfig) if kubeconfig else Config.discover()
    count = asyncio.run(_release(config, held, name, namespace))
    click.echo(f"released {count} objects")


async def _release(
    config: Config,
    held: Sequence[tuple[type[Object], tuple[str, ...]]],
    name: str | None,
    namespace: str,
) -> int:
    async with open_client(config, "quintant-finalizers") as client:
        return sum(
            [await release_kind(client, kind, names, name, namespace) for kind, names in held]
        )


async def release_kind(
    client: Client, kind: type[Object], names: Sequence[str], name: str | None, namespace: str
) -> int:
    """Take one finalizer, by all of its names, off the objects of a kind; how many had it."""
    view = Metadata[kind]  # type: ignore[valid-type]
    found = [
        obj.metadata
        for obj in await client.list(view, namespace, live=True)
        if set(names) & set(obj.metadata.finalizers) and name in (None, obj.metadata.name)
    ]
    for meta in found:
        await finalizer.remove_finalizer(client, kind, meta, *names)
        click.echo(f"released {resource_of(kind).plural}/{meta.name}")
    return len(found)
