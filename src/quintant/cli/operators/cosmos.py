"""`quintant cosmos`: what a change of a CosmosFullNode would do.

quintant cosmos plan -f FILE                     what would change; writes nothing
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from quintant.api.core import Service
from quintant.cli.client import client_flags, run_with_client
from quintant.cli.manifest_file import read_manifest
from quintant.core.errors import ConfigError
from quintant.core.object import replace
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodeConfig
from quintant.operators.cosmos.builders.instances import instances
from quintant.operators.cosmos.builders.node_key_builder import (
    DamagedNodeKey,
    NodeKey,
    parse_node_key,
)
from quintant.operators.cosmos.options import Options
from quintant.operators.cosmos.plan.preview import PreviewInputs, PreviewLine, preview
from quintant.operators.cosmos.plan.rollout import max_unavailable
from quintant.operators.cosmos.rules import validate, warn
from quintant.runtime.apply import controlled
from quintant.runtime.cache.client import Client

_WIDTH = 8


@click.group("cosmos")
def command() -> None:
    """Look at what a change of a CosmosFullNode would do."""


@command.command("plan")
@click.option(
    "--filename", "-f", "path", required=True, type=click.Path(path_type=Path, exists=True),
    help="A manifest with a CosmosFullNode.",
)  # fmt: skip
@client_flags
def plan_command(path: Path, **way: Any) -> None:
    """Show what a manifest would make, change and restart, and because of which field.

    Nothing is written, and no key is shown.
    """

    async def work(client: Client, namespace: str) -> None:
        for line in await planned(client, path, namespace):
            click.echo(line)

    run_with_client("quintant-cosmos", work, **way)


async def planned(client: Client, path: Path, default_namespace: str) -> list[str]:
    """The lines to show; ConfigError if the manifest makes no sense."""
    wanted = read_manifest(CosmosFullNode, path)
    namespace = wanted.metadata.namespace or default_namespace
    live_node = await client.find(CosmosFullNode, wanted.metadata.name, namespace, live=True)
    meta = (
        live_node.metadata
        if live_node is not None
        else replace(wanted.metadata, namespace=namespace)
    )
    after = replace(
        wanted,
        metadata=replace(meta, labels=wanted.metadata.labels),
        status=live_node.status if live_node is not None else None,
    )
    _check(after)
    lines = preview(live_node, after, await _inputs(client, after))
    return [*map(_line, lines), *_summary(after, lines), *(f"warning: {it}" for it in warn(after))]


def _check(full_node: CosmosFullNode) -> None:
    wrong = [f"{each.field}: {each.message}" for each in validate(full_node)]
    if wrong:
        raise ConfigError(
            f"CosmosFullNode {full_node.metadata.name} makes no sense", because="; ".join(wrong)
        )


async def _inputs(client: Client, full_node: CosmosFullNode) -> PreviewInputs:
    namespace, keys = full_node.metadata.namespace, dict[str, NodeKey]()
    for instance in instances(full_node):
        config = await client.find(NodeConfig, instance.name, namespace, live=True)
        if config is not None and controlled(config, full_node):
            try:
                keys[instance.name] = parse_node_key(config.data.node_key)
            except DamagedNodeKey as error:
                raise ConfigError(f"ConfigMap {instance.name}: {error}") from None
    services = await client.list(Service, namespace, live=True)
    own = tuple(each for each in services if controlled(each, full_node))
    return PreviewInputs(Options().tools, keys, own)


def _line(line: PreviewLine) -> str:
    because = f"  because of {', '.join(line.because)}" if line.because else ""
    return f"{line.action:<{_WIDTH}} {line.kind} {line.name}{because}"


def _summary(full_node: CosmosFullNode, lines: list[PreviewLine]) -> list[str]:
    restarts = sum(line.action == "restart" for line in lines)
    if not lines:
        return ["nothing would change"]
    most = max_unavailable(full_node.spec.strategy.max_unavailable, full_node.spec.replicas)
    return [f"{restarts} pods are restarted, at most {most} at a time"] if restarts else []
