"""Which named cluster a command is about, and what its administrator asks it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.cluster.instance.records import DEFAULT, ClusterRecord, ClusterRecords, NamedCluster
from quintant.core.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])


def cluster_flag(command: F) -> F:
    """Give a command the flag that `find_running` takes."""
    return click.option(
        "--cluster",
        default="",
        help=f"One of `quintant clusters`, else the only one there is, or {DEFAULT}.",
    )(command)


def choose_cluster(records: ClusterRecords, name: str) -> NamedCluster:
    """The cluster of a name, or the only one there is; ConfigError if there is none."""
    if name:
        records.folder_of(name)
    known = records.list()
    if not name:
        name = known[0].name if len(known) == 1 else DEFAULT
    chosen = next((each for each in known if each.name == name), None)
    if chosen is not None:
        return chosen
    names = ", ".join(each.name for each in known)
    raise ConfigError(
        f"there is no cluster {name!r}",
        because=f"these are known: {names}" if names else "none was started with a name",
        hint="quintant clusters",
    )


def find_running(name: str) -> tuple[str, ClusterRecord]:
    """A cluster that is ready, as `choose_cluster` finds it; ConfigError if it does not run."""
    chosen = choose_cluster(ClusterRecords(os.environ), name)
    if chosen.running and chosen.record is not None:
        return chosen.name, chosen.record
    raise ConfigError(
        f"the cluster {chosen.name!r} does not answer",
        because="it is still starting" if chosen.running else "it has ended",
        hint="quintant clusters",
    )


def request_as_admin(record: ClusterRecord, call: ApiRequest) -> bytes:
    """What a cluster answers its administrator; a refusal is raised, with the server's words."""
    config = Config.load(record.kubeconfig)

    async def send() -> bytes:
        transport = HttpTransport(config)
        try:
            return (await Rest(transport).send(call)).body
        finally:
            await transport.close()

    return asyncio.run(send())
