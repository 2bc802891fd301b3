"""`quintant logs`: what the containers of pods print.

quintant logs relay-a-6f7c -n demo --tail 20
quintant logs deployment/relay-a -f
"""

from __future__ import annotations

from typing import Any

import click

from quintant.api.core import Pod
from quintant.cli.client import client_flags, run_with_client
from quintant.cli.look.objects import MANAGER, ResourceScope, read, select
from quintant.client.pod_logs import read_log_lines
from quintant.client.rest import Rest
from quintant.core.errors import ConfigError
from quintant.core.object import ObjectMeta
from quintant.core.resource import resource_of
from quintant.runtime.cache.client import Client


@click.command("logs")
@click.argument("target", metavar="POD|KIND/NAME")
@click.option("--container", "-c", default="", help="Of several containers, this one.")
@click.option("--follow", "-f", is_flag=True, help="Go on until the container ends, or Ctrl-C.")
@click.option("--tail", type=int, help="Only so many of the last lines.")
@click.option("--previous", "-p", is_flag=True, help="Of the run before the last restart.")
@client_flags
def command(
    target: str, container: str, follow: bool, tail: int | None, previous: bool, **way: Any
) -> None:
    """Show what a pod prints, or the first one of a Deployment."""
    query = {"container": container, "follow": "true" * follow, "previous": "true" * previous}
    query["tailLines"] = "" if tail is None else str(tail)

    async def work(client: Client, namespace: str) -> None:
        name = await _pod(client.rest, target, ResourceScope(namespace))
        pod = Pod(metadata=ObjectMeta(name=name, namespace=namespace))
        given = {key: value for key, value in query.items() if value}
        async for line in read_log_lines(client.rest, pod, given):
            click.echo(line)

    run_with_client(MANAGER, work, **way)


async def _pod(rest: Rest, target: str, scope: ResourceScope) -> str:
    """The pod that is meant: itself, or the first by name that a selector selects."""
    if "/" not in target:
        return target
    chosen = await select(rest, (target,))
    (kind,), (name, *_) = chosen.kinds, chosen.names
    if kind == resource_of(Pod) or kind.plural == "pods":
        return name
    owner = await read(rest, scope.path(kind, name))
    labels = ((owner.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    found = await read(rest, scope.path(resource_of(Pod)), labelSelector=selector) if labels else {}
    names = sorted(each["metadata"]["name"] for each in found.get("items") or ())
    if not names:
        raise ConfigError(
            f"{kind.kind} {name} has no pods",
            because="it selects none" if labels else f"a {kind.kind} selects no pods by labels",
            hint=f"quintant get pods -n {scope.namespace}",
        )
    return str(names[0])
