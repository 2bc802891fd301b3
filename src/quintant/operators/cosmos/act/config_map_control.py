"""Keeps the ConfigMaps: changed in place, and kept when their instances go, with their keys."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.core import ConfigMap
from quintant.core.object import Object
from quintant.operators.cosmos.act.service_control import adoptable
from quintant.operators.cosmos.api.views import NodeConfig
from quintant.operators.cosmos.builders.config_map_builder import InstanceConfig, build_config_maps
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.node_key_builder import NodeKey
from quintant.operators.cosmos.builders.peer_builder import PeerAddress
from quintant.operators.cosmos.observe.observed import Observed
from quintant.runtime.apply import Policy, control, data_checksum, revision
from quintant.runtime.cache.client import Client


def _drifted(have: Object, want: Object) -> bool:
    """Whether somebody has edited what a ConfigMap says."""
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
    crd = observed.crd
    heights = {node.name: node.version_height for node in observed.nodes}
    wanted = build_config_maps(crd, keys, peers, heights)
    maps = [each.config_map for each in wanted.values()]
    await control(client, maps, observed.configs, by=crd, policy=POLICY)
    whole = crd.spec.strategy.restart_on_peer_change
    return {name: _checksum(each, whole=whole) for name, each in wanted.items()}


def _checksum(config: InstanceConfig, *, whole: bool) -> str:
    return revision(config.config_map, MARK) if whole else config.checksum
