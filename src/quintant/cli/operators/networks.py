"""The commands of `quintant klight`: what networks there are, what is in them, and a repair.

    quintant klight get networks [-n NAMESPACE | -A] [-o json]
    quintant klight describe NETWORK
    quintant klight query NETWORK
    quintant klight persist NETWORK FILE
    quintant klight repair NETWORK
    quintant klight check DIR

NETWORK is a network's id, or the name of its LightNetwork. `query` and `persist` talk to the peers
themselves, so they work where pods can be reached: in a pod, or beside an embedded cluster.
`check` needs neither a cluster nor a peer (check_chain.py).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import IO, TYPE_CHECKING, Any

import click

from quintant.cli.client import client_flags, run_with_client
from quintant.cli.operators.check_chain import check
from quintant.core.clock import SystemClock, timestamp
from quintant.core.errors import ConfigError
from quintant.core.object import replace
from quintant.operators.klight.api.lightnetwork import REPAIR, LightNetwork, LightNetworkStatus
from quintant.operators.klight.lightnetwork.report import listed, plain
from quintant.operators.klight.observed.answers import OK
from quintant.runtime.cache.client import Client

if TYPE_CHECKING:
    from quintant.operators.klight.remote.grpc_peers import GrpcPeers

CHECK_SECONDS = 1.0
"""How long a member may take to answer before the next one is asked."""
READ_SECONDS = 60.0
"""How long everything may take to be read."""
WRITE_SECONDS = 10.0
_COLUMNS = ("NAMESPACE", "NAME", "ID", "PHASE", "MEMBERS", "READY", "PENDING", "CONTACT")
_GAP = 3
_MANAGER = "quintant-klight"


@click.command("get")
@click.argument("what", type=click.Choice(["networks"]), default="networks")
@click.option("--all-namespaces", "-A", "everywhere", is_flag=True, help="Of every namespace.")
@click.option("--output", "-o", type=click.Choice(["table", "json"]), default="table")
@client_flags
def get(what: str, everywhere: bool, output: str, **way: Any) -> None:
    """List networks."""

    async def work(client: Client, namespace: str) -> None:
        lightnetworks = await client.list(LightNetwork, "" if everywhere else namespace, live=True)
        click.echo(_json(listed(lightnetworks)) if output == "json" else _table(lightnetworks))

    run_with_client(_MANAGER, work, **way)


@click.command("describe")
@click.argument("network")
@client_flags
def describe(network: str, **way: Any) -> None:
    """Show all that is known of a network, as JSON."""

    async def work(client: Client, namespace: str) -> None:
        lightnetwork = await _find(client, network, namespace)
        click.echo(_json(plain(lightnetwork)))

    run_with_client(_MANAGER, work, **way)


@click.command("query")
@click.argument("network")
@client_flags
def query(network: str, **way: Any) -> None:
    """Print what a network keeps, newest first, a line each."""

    async def work(client: Client, namespace: str) -> None:
        async with _member(client, network, namespace) as (peers, address):
            async for payload in peers.payloads(address, READ_SECONDS):
                click.echo(payload)

    run_with_client(_MANAGER, work, **way)


@click.command("persist")
@click.argument("network")
@click.argument("file", type=click.File("rb"))
@client_flags
def persist(network: str, file: IO[bytes], **way: Any) -> None:
    """Have a network keep the contents of FILE, - for the standard input."""
    payload = file.read()

    async def work(client: Client, namespace: str) -> None:
        async with _member(client, network, namespace) as (peers, address):
            answer = await peers.persist(address, payload, WRITE_SECONDS)
        if answer.code != OK:
            raise ConfigError(f"network {network} did not take it", because=answer.text)
        click.echo(f"kept by {address} and its network")

    run_with_client(_MANAGER, work, **way)


@click.command("repair")
@click.argument("network")
@client_flags
def repair(network: str, **way: Any) -> None:
    """Ask the controller for one repair of a network."""

    async def work(client: Client, namespace: str) -> None:
        lightnetwork = await _find(client, network, namespace)
        metadata = lightnetwork.metadata
        annotations = {**metadata.annotations, REPAIR: timestamp(SystemClock().now())}
        changed = replace(lightnetwork, metadata=replace(metadata, annotations=annotations))
        await client.patch(changed, since=lightnetwork)
        click.echo(f"asked for a repair of {network}; see: quintant klight describe {network}")

    run_with_client(_MANAGER, work, **way)


COMMANDS: dict[str, click.Command] = {
    "get": get, "describe": describe, "query": query, "persist": persist, "repair": repair,
    "check": check,
}  # fmt: skip


async def _find(client: Client, network: str, namespace: str) -> LightNetwork:
    lightnetworks = await client.list(LightNetwork, namespace, live=True)
    for names in (
        {each.spec.network_id: each for each in lightnetworks},
        {each.metadata.name: each for each in lightnetworks},
    ):
        if network in names:
            return names[network]
    known = ", ".join(each.spec.network_id for each in lightnetworks)
    raise ConfigError(
        f"there is no network {network} in namespace {namespace}",
        because=f"its networks are {known or 'none'}",
        hint="quintant klight get networks -A",
    )


@asynccontextmanager
async def _member(
    client: Client, network: str, namespace: str
) -> AsyncIterator[tuple[GrpcPeers, str]]:
    """The newest member that answers, and the way to talk to it."""
    # Of the extra klight, without which help is shown all the same.
    from quintant.operators.klight.remote.grpc_peers import GrpcPeers

    lightnetwork, peers = await _find(client, network, namespace), GrpcPeers()
    try:
        for address in lightnetwork.status.stack if lightnetwork.status is not None else ():
            if (await peers.check(address, CHECK_SECONDS)).serves:
                yield peers, address
                return
        raise ConfigError(
            f"no member of network {network} answers",
            because="it has none, or pods cannot be reached from here",
            hint="run this command in a pod of the cluster",
        )
    finally:
        await peers.close()


def _json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def _table(lightnetworks: Sequence[LightNetwork]) -> str:
    rows = [_COLUMNS, *(_row(each) for each in lightnetworks)]
    widths = [max(map(len, column)) + _GAP for column in zip(*rows, strict=True)]
    lines = ("".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _row(lightnetwork: LightNetwork) -> tuple[str, ...]:
    meta, status = lightnetwork.metadata, lightnetwork.status or LightNetworkStatus()
    numbers = (status.members, status.ready, status.pending)
    counts = ("" if number is None else str(number) for number in numbers)
    names = (meta.namespace, meta.name, lightnetwork.spec.network_id, status.phase or "")
    return (*names, *counts, status.contact or "")
