"""Keeps the node keys: read from the ConfigMaps, and made only for instances that have none.

A cache may be behind, and a key that is made twice is an identity lost; so before one is made the
server is asked. The ConfigMap of a removed instance stays: it comes back as the same node.
"""

from __future__ import annotations

from quintant.core.turns import in_turns
from quintant.operators.cosmos.api import NODE_KEY
from quintant.operators.cosmos.api.views import NodeConfig
from quintant.operators.cosmos.builders.instances import instances
from quintant.operators.cosmos.builders.node_key_builder import (
    DamagedNodeKey,
    NodeKey,
    build_node_key,
    parse_node_key,
)
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.plan.children import own_config
from quintant.operators.cosmos.remote import NodeRemote
from quintant.runtime.cache.client import Client


async def control_node_keys(
    client: Client, observed: Observed, remote: NodeRemote
) -> dict[str, NodeKey]:
    """The key of every instance, by its name; DamagedNodeKey if one cannot be read."""
    known = {each.metadata.name: each for each in observed.configs}
    keys = {}
    async for instance in in_turns(instances(observed.full_node)):
        config = known.get(instance.name) or await _live(client, observed, instance.name)
        keys[instance.name] = _read(config) if config else build_node_key(remote.seed())
    return keys


async def _live(client: Client, observed: Observed, name: str) -> NodeConfig | None:
    """The ConfigMap that only the server knows of, if it is ours or ours to take."""
    full_node = observed.full_node
    config = await client.find(NodeConfig, name, full_node.metadata.namespace, live=True)
    return own_config(config, full_node)


def _read(config: NodeConfig) -> NodeKey:
    try:
        return parse_node_key(config.data.node_key)
    except DamagedNodeKey as error:
        name = config.metadata.name
        raise DamagedNodeKey(
            f"{NODE_KEY} of ConfigMap {name} is damaged: {error}; restore it, or delete the "
            "ConfigMap to give the node another identity"
        ) from None
