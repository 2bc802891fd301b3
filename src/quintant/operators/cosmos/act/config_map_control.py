"""Keeps the ConfigMaps: changed in place, and kept when their instances go, with their keys."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.core import ConfigMap
from quintant.core.object import Object
from quintant.core.turns import in_turns
from quintant.operators.cosmos.api.views import NodeConfig
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.node_key_builder import NodeKey
from quintant.operators.cosmos.builders.peer_builder import PeerAddress
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.plan.children import (
    adoptable,
    restart_checksum,
    wanted_configs,
)
from quintant.runtime.apply import Policy, control, data_checksum
from quintant.runtime.cache.client import Client


def _drifted(have: Object, want: Object) -> bool:
    """Whether another client has edited what a ConfigMap says."""
    if isinstance(have, NodeConfig) and isinstance(want, ConfigMap):
        return have.checksum != data_checksum(want.data)
    return False


POLICY = Policy(mark=MARK, delete="leave", drifted=_drifted, adopts=adoptable)


async def control_config_maps(
    client: Client,
    observed: Observed,
    keys: Mapping[str, NodeKey],
    peers: Mapping[str, PeerAddress],
) -> dict[str, str]:
    """Bring the ConfigMaps in line; what each pod is restarted for, by instance."""
    full_node = observed.full_node
    wanted = wanted_configs(observed, keys, peers)
    configs = {name: config async for name, config in in_turns(wanted)}
    maps = [each.config_map for each in configs.values()]
    await control(client, maps, observed.configs, by=full_node, policy=POLICY)
    return {name: restart_checksum(full_node, each) for name, each in configs.items()}
