"""`quintant infra`: look at a Cluster, at what a change of it would do, and into what was made.

quintant infra describe NAME                     a tree of everything that is known
quintant infra plan -f FILE                      what would change; writes nothing
quintant infra kubeconfig NAME > k               the way into the made cluster
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from quintant.api.core import Secret
from quintant.cli.client import client_flags, run_with_client
from quintant.cli.manifest_file import read_manifest
from quintant.core.errors import ConfigError
from quintant.core.object import replace
from quintant.operators.infra.api import Cluster, ClusterStatus
from quintant.operators.infra.api.cluster_status import ScheduledCloud
from quintant.operators.infra.builders import template
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.secrets import Secrets
from quintant.operators.infra.observe.session import Resolver
from quintant.operators.infra.observed.answers import Estimate, ProviderError
from quintant.operators.infra.observed.cluster import Unresolved, secret_value
from quintant.operators.infra.options import Options
from quintant.operators.infra.remote.connections import ImProviders
from quintant.operators.infra.report import describe, planned
from quintant.runtime.cache.client import Client

_MANAGER = "quintant-infra"


@click.group("infra")
def command() -> None:
    """Look at Clusters, and at what a change of one would do."""


@command.command("describe")
@click.argument("name")
@client_flags
def describe_command(name: str, **way: Any) -> None:
    """Show a Cluster as a tree: operation, machines, nodes, conditions, last errors."""

    async def work(client: Client, namespace: str) -> None:
        click.echo(describe(await _find(client, name, namespace)))

    run_with_client(_MANAGER, work, **way)


@command.command("kubeconfig")
@click.argument("name")
@client_flags
def kubeconfig_command(name: str, **way: Any) -> None:
    """Print the kubeconfig of a made cluster, which is a secret."""

    async def work(client: Client, namespace: str) -> None:
        cluster = await _find(client, name, namespace)
        ref = cluster.status.kubeconfig_secret_ref if cluster.status is not None else None
        secret = await client.find(Secret, ref.name, namespace, live=True) if ref else None
        kubeconfig = secret_value(secret, (ref.key or "value") if ref is not None else "")
        if kubeconfig is None:
            state = cluster.status.state if cluster.status is not None else "PENDING"
            raise ConfigError(
                f"Cluster {name} has no kubeconfig yet",
                because=f"it is {state}",
                hint=f"quintant infra describe {name}",
            )
        click.echo(kubeconfig.decode(), nl=False)

    run_with_client(_MANAGER, work, **way)


@command.command("plan")
@click.option(
    "--filename", "-f", "path", required=True, type=click.Path(path_type=Path, exists=True),
    help="A manifest with a Cluster.",
)  # fmt: skip
@client_flags
def plan_command(path: Path, **way: Any) -> None:
    """Show what a manifest would change: paths, machines, the provider's estimate.

    Nothing is written, and no value of a template is shown.
    """
    wanted = read_manifest(Cluster, path)

    async def work(client: Client, namespace: str) -> None:
        cluster_namespace = wanted.metadata.namespace or namespace
        existing = await client.find(Cluster, wanted.metadata.name, cluster_namespace, live=True)
        status = (existing.status if existing is not None else None) or ClusterStatus()
        known = status.last_applied_tosca
        before = known.value if known is not None else {}
        after = wanted.spec.tosca.value if wanted.spec.tosca is not None else {}
        meta = replace(wanted.metadata, namespace=cluster_namespace)
        drawn = replace(wanted, metadata=meta, status=_bound(wanted, status))
        click.echo(planned(before, after, await _estimate(client, drawn)))

    run_with_client(_MANAGER, work, **way)


def _bound(wanted: Cluster, status: ClusterStatus) -> ClusterStatus:
    """Where it runs, or would if the manifest says so."""
    ref = wanted.spec.cloud_ref
    if status.running_on is not None or status.scheduled_to is not None or ref is None:
        return status
    return replace(status, scheduled_to=ScheduledCloud(kind=ref.kind or "Cloud", name=ref.name))


async def _estimate(client: Client, cluster: Cluster) -> Estimate | str:
    """What the provider makes of a template; why it was not asked, if it was not."""
    options = Options(dummy_clouds=True, global_secrets_namespace="")
    resolved = await Resolver(options, Secrets()).of_cluster(client, cluster)
    if resolved is None:
        return "it is bound to no cloud, and the manifest names none (cloudRef)"
    if isinstance(resolved, Unresolved):
        return resolved.message
    _, session = resolved
    providers = ImProviders(InfraMetrics())
    try:
        return await providers(session).plan(template(cluster, "plan", "plan"))
    except ProviderError as error:
        return error.failure.message
    finally:
        await providers.close()


async def _find(client: Client, name: str, namespace: str) -> Cluster:
    cluster = await client.find(Cluster, name, namespace, live=True)
    if cluster is not None:
        return cluster
    others = [each.metadata.name for each in await client.list(Cluster, namespace, live=True)]
    raise ConfigError(
        f"there is no Cluster {name} in namespace {namespace}",
        because=f"its Clusters are {', '.join(others) or 'none'}",
        hint="kubectl get clusters -A",
    )
