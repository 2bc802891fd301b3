"""Whether a cluster does what its users expect: every Node is ready, and Pods can be created."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.core import Node, ServiceAccount
from quintant.client.rest import Rest
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.common.labels import NODE
from quintant.cluster.component.component import transport_as
from quintant.cluster.instance.cluster import Cluster, ClusterConfig
from quintant.core.errors import ConfigError
from quintant.runtime.cache.client import Client

READY_SECONDS = 60.0


async def wait_ready(cluster: Cluster, config: ClusterConfig) -> None:
    """Wait for the nodes, and the service account that pods of `default` get; ConfigError if
    one of them does not come within a minute.
    """
    async with transport_as(cluster.server, admin("system:bootstrap")) as transport:
        client = Client(Rest(transport), manager="bootstrap")
        try:
            if config.controllers:
                await client.wait_for(
                    ServiceAccount, "default", "default", until=_is_there, timeout=READY_SECONDS
                )
            for name in _nodes(config):
                await client.wait_for(Node, name, until=_is_ready, timeout=READY_SECONDS)
        except TimeoutError:
            raise ConfigError(
                "the cluster is not ready",
                because=f"its nodes and controllers did not come up in {READY_SECONDS:g} s",
                hint="see whether the machine has processor time left, and start it again",
            ) from None


def _nodes(config: ClusterConfig) -> Iterator[str]:
    if config.node is not None:
        yield NODE
        yield from config.node.process_nodes
    if config.fleet is not None and config.fleet.nodes:
        yield f"sim-{config.fleet.nodes:04}"


def _is_there(account: ServiceAccount | None) -> bool:
    return account is not None


def _is_ready(node: Node | None) -> bool:
    conditions = node.status.conditions if node is not None and node.status else ()
    return any(each.type == "Ready" and each.status == "True" for each in conditions)
