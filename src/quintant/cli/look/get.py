"""`quintant get`: objects of a cluster, in the columns that the server prints.

quintant get pods -A                 every pod
quintant get portalexpose,svc -n d   two kinds
quintant get pod/relay-a -o yaml     one object
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import click
import msgspec

from quintant.cli.client import client_flags, run_with_client
from quintant.cli.look.objects import MANAGER, JsonObject, ResourceScope, Selection, read, select
from quintant.cli.look.table import ACCEPT, Rows, laid_out, rows
from quintant.client.rest import Rest
from quintant.core.resource import Resource
from quintant.core.yaml.dump import to_yaml
from quintant.runtime.cache.client import Client


@click.command("get")
@click.argument("words", nargs=-1, required=True, metavar="KIND[,KIND]... [NAME]...")
@click.option("--all-namespaces", "-A", "everywhere", is_flag=True, help="Of every namespace.")
@click.option("--selector", "-l", "labels", default="", help="Only those with these labels.")
@click.option("--output", "-o", type=click.Choice(["table", "wide", "yaml", "json", "name"]),
              default="table", show_default=True, help="How to show them.")  # fmt: skip
@client_flags
def command(words: tuple[str, ...], everywhere: bool, labels: str, output: str, **way: Any) -> None:
    """Show objects, in the columns that the server prints."""

    async def work(client: Client, namespace: str) -> None:
        chosen = await select(client.rest, words)
        scope = ResourceScope(namespace, everywhere, labels)
        if output in ("table", "wide"):
            await _tables(client.rest, chosen, scope, wide=output == "wide")
            return
        found = [each async for each in objects(client.rest, chosen, scope)]
        click.echo(_written(found, output), nl=False)

    run_with_client(MANAGER, work, **way)


async def objects(rest: Rest, chosen: Selection, scope: ResourceScope) -> AsyncIterator[JsonObject]:
    """The objects themselves, without what only servers read."""
    for kind in chosen.kinds:
        for name in chosen.names or ("",):
            found = await read(rest, scope.path(kind, name), labelSelector=scope.labels)
            for obj in (found,) if name else found.get("items") or ():
                yield plain(kind, obj)


def plain(kind: Resource, obj: JsonObject) -> JsonObject:
    """An object of a list says what it is; who owns which field is left out."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, **obj, "metadata": metadata}


async def _tables(rest: Rest, chosen: Selection, scope: ResourceScope, *, wide: bool) -> None:
    shown = 0
    for kind in chosen.kinds:
        found = await _rows(rest, kind, chosen, scope, wide=wide)
        if found is not None:
            click.echo(f"{'' if not shown else chr(10)}{laid_out(found)}")
            shown += 1
    if not shown:
        suffix = "" if scope.everywhere else f" in {scope.namespace} namespace"
        click.echo(f"No resources found{suffix}.", err=True)


async def _rows(
    rest: Rest, kind: Resource, chosen: Selection, scope: ResourceScope, *, wide: bool
) -> Rows | None:
    found: Rows | None = None
    prefix = f"{kind.full_name}/".lower() if len(chosen.kinds) > 1 else ""
    for name in chosen.names or ("",):
        table = await read(rest, scope.path(kind, name), ACCEPT, labelSelector=scope.labels)
        namespaces = scope.everywhere and kind.namespaced
        more = rows(table, wide=wide, prefix=prefix, namespaces=namespaces)
        found = more if found is None else Rows(found.heading, found.lines + more.lines)
    return found if found is not None and found.lines else None


def _written(items: list[JsonObject], output: str) -> str:
    if output == "name":
        return "".join(f"{each['kind'].lower()}/{each['metadata']['name']}\n" for each in items)
    if output == "yaml":
        return to_yaml(items)
    whole = items[0] if len(items) == 1 else {"apiVersion": "v1", "kind": "List", "items": items}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"
