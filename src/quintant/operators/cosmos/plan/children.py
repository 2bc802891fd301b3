"""Which children a CosmosFullNode should have, and which of those that exist are its own. Pure.

The builders make one child each; here they are put together from what was observed. Claims are in
claims.py, because what they are filled from is asked for in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from quintant.api.core import Service
from quintant.core.object import Object
from quintant.core.owner import controller_of
from quintant.operators.cosmos.api import COMPONENT_LABEL, CREATED_BY_LABEL, NAME_LABEL
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodeConfig, PodObject
from quintant.operators.cosmos.builders.additional_pod_builder import build_additional_pods
from quintant.operators.cosmos.builders.config_map_builder import InstanceConfig, each_config_map
from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.builders.instances import MARK, labels
from quintant.operators.cosmos.builders.node_key_builder import NodeKey
from quintant.operators.cosmos.builders.peer_builder import PeerAddress
from quintant.operators.cosmos.builders.pod_builder import PodInputs, build_pod
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.runtime.apply import controlled, revision

_IDENTITY = (CREATED_BY_LABEL, COMPONENT_LABEL, NAME_LABEL)
_INSIDE = "ClusterIP"


def adoptable(have: Object, want: Object) -> bool:
    """Whether an object has no controller, and says by its labels that it is this child."""
    if controller_of(have) is not None:
        return False
    held, wanted = have.metadata.labels, want.metadata.labels
    return all(held.get(key) == wanted[key] for key in _IDENTITY)


def own_config(config: NodeConfig | None, full_node: CosmosFullNode) -> NodeConfig | None:
    """A ConfigMap that is the CosmosFullNode's, or that it may adopt; None otherwise."""
    if config is None or controlled(config, full_node):
        return config
    wanted = NodeConfig(metadata=type(config.metadata)(labels=labels(full_node)))
    return config if adoptable(config, wanted) else None


def surplus_services(full_node: CosmosFullNode, surplus: Iterable[Service]) -> list[Service]:
    """The Services of removed instances that are deleted; an address outside is kept."""
    if not full_node.spec.service.prune_on_scale_down:
        return []
    return [each for each in surplus if each.spec.type == _INSIDE]


def wanted_configs(
    observed: Observed, keys: Mapping[str, NodeKey], peers: Mapping[str, PeerAddress]
) -> Iterator[tuple[str, InstanceConfig]]:
    """The configuration of every instance, and its name."""
    heights = {node.name: node.version_height for node in observed.nodes}
    return each_config_map(observed.full_node, keys, peers, heights)


def restart_checksum(full_node: CosmosFullNode, config: InstanceConfig) -> str:
    """What the pod of an instance is restarted for when it changes."""
    if full_node.spec.strategy.restart_on_peer_change:
        return revision(config.config_map, MARK)
    return config.checksum


def wanted_pods(
    observed: Observed, checksums: Mapping[str, str], tools: Tools
) -> Iterator[PodObject]:
    """The pods that there should be: none of a node that is away, or disabled."""
    full_node = observed.full_node
    for node in observed.nodes:
        if node.away:
            continue
        inputs = PodInputs(checksums[node.name], node.version_height)
        pod = build_pod(full_node, node.instance, inputs, tools)
        if pod is not None:
            yield pod
        yield from build_additional_pods(full_node, node.instance, node.version_height)


def covers(checksums: Mapping[str, str], observed: Observed) -> bool:
    """Whether the configuration of every node is known; one that came since is not."""
    return {node.name for node in observed.nodes} <= checksums.keys()
