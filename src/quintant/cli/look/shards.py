"""`quintant shards`: who works on what in a program of which every replica works.

quintant shards greeter -n demo               members, and what keeps ranges from moving
quintant shards greeter default/g1 -n demo    the range of an object, who holds it, since when
"""

from __future__ import annotations

from typing import Any

import click
import msgspec

from quintant.cli.client import client_flags, run_with_client
from quintant.cli.look.objects import MANAGER
from quintant.cli.look.table import Rows, laid_out, shown
from quintant.core.clock import SystemClock
from quintant.core.errors import ConfigError
from quintant.core.object import Request
from quintant.runtime.cache.client import Client
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.shard.group_lease import MAP
from quintant.runtime.shard.group_report import (
    GroupReport,
    KeyReport,
    members_table,
    places,
    report,
)
from quintant.runtime.shard.member import MANAGER as GROUP_LABEL
from quintant.runtime.shard.shard_map import ShardMap, UnreadableMap, decode_map


@click.command("shards")
@click.argument("name", metavar="NAME")
@click.argument("key", required=False, metavar="[NAMESPACE/NAME]")
@click.option("--output", "-o", type=click.Choice(["table", "json"]), default="table",
              show_default=True, help="How to show it.")  # fmt: skip
@client_flags
def command(name: str, key: str | None, output: str, **way: Any) -> None:
    """Show which replica of a sharded program works on what.

    NAME is the manager's; with an object's name, its range and who holds that.
    """

    async def work(client: Client, namespace: str) -> None:
        leases = LeaseClient(client.rest, namespace)
        own = await leases.read(name)
        members = [each for each in await leases.list(GROUP_LABEL, name)
                   if each.metadata.name != name]  # fmt: skip
        if own is None and not members:
            raise _nobody(name, namespace)
        if key is not None:
            text = own.metadata.annotations.get(MAP, "") if own is not None else ""
            _show_key(places(_map(name, text), _request(key)), output)
            return
        found = [*members, own] if own is not None else members
        _show(report(name, namespace, found, SystemClock().now()), output)

    run_with_client(MANAGER, work, **way)


def _show(group: GroupReport, output: str) -> None:
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(group), indent=2))
        return
    heading, lines = members_table(group)
    click.echo(laid_out(Rows(heading, tuple(tuple(map(shown, line)) for line in lines))))
    click.echo(f"{group.ranges} ranges, and that of the leader, in layout {shown(group.layout)}")
    for wait in group.waits:
        click.echo(f"- {shown(wait)}")


def _show_key(keys: list[KeyReport], output: str) -> None:
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(keys), indent=2))
        return
    lines = [(p.divided, p.range, shown(p.member) or "nobody", str(p.epoch or "-")) for p in keys]
    click.echo(laid_out(Rows(("DIVIDED", "RANGE", "MEMBER", "EPOCH"), tuple(lines))))


def _map(name: str, text: str) -> ShardMap:
    try:
        return decode_map(text)
    except UnreadableMap as error:
        raise ConfigError(
            f"nobody can tell whose a key of {name} is",
            because=f"the map in Lease {name} cannot be read: {error}",
            hint=f"look at the members first: quintant shards {name}",
        ) from None


def _request(key: str) -> Request:
    namespace, _, name = key.rpartition("/")
    return Request(name, namespace)


def _nobody(name: str, namespace: str) -> ConfigError:
    return ConfigError(
        f"there are no shards of {name} in namespace {namespace}",
        because="there is neither a Lease of that name, nor one of a member",
        hint="say the manager's name, and its namespace: quintant shards NAME -n NAMESPACE",
    )
