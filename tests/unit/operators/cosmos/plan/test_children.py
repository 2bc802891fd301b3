"""Children are those of the nodes that are here, and only what is ours is touched."""

from __future__ import annotations

from typing import Any

from quintant.api.core import ConfigMap, Service, ServiceSpec
from quintant.core.object import ObjectMeta
from quintant.core.owner import owned
from quintant.operators.cosmos.api.views import NodeConfig
from quintant.operators.cosmos.builders.config_map_builder import InstanceConfig
from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.builders.instances import labels
from quintant.operators.cosmos.plan.children import (
    adoptable,
    covers,
    own_config,
    restart_checksum,
    surplus_services,
    wanted_pods,
)
from unit.operators.cosmos.full_nodes import TOOLS_IMAGE, full_node
from unit.operators.cosmos.observations import observed

CHECKSUMS = {f"hub-{at}": "c" for at in range(3)}


def service(name: str, type: str) -> Service:
    return Service(metadata=ObjectMeta(name=name), spec=ServiceSpec(type=type))


def pods(states: str, **given: Any) -> list[str]:
    wanted = wanted_pods(observed(states, **given), CHECKSUMS, Tools(TOOLS_IMAGE))
    return [pod.metadata.name for pod in wanted]


def test_a_node_that_is_away_or_disabled_has_no_pod() -> None:
    assert pods("+++") == ["hub-0", "hub-1", "hub-2"]
    assert pods("+++", away=["hub-1"]) == ["hub-0", "hub-2"]
    assert pods("+++", instanceOverrides={"hub-0": {"disable": "Pod"}}) == ["hub-1", "hub-2"]


def test_a_node_that_came_since_has_no_configuration_yet() -> None:
    assert covers(CHECKSUMS, observed("+++"))
    assert not covers(CHECKSUMS, observed("++++"))


def test_services_with_an_address_outside_are_never_pruned() -> None:
    surplus = [service("inside", "ClusterIP"), service("outside", "LoadBalancer")]
    pruning = full_node(service={"pruneOnScaleDown": True})
    assert surplus_services(pruning, surplus) == surplus[:1]
    assert surplus_services(full_node(), surplus) == []


def test_pods_are_restarted_for_peers_only_if_that_is_asked_for() -> None:
    def checksum(peers: str, **given: Any) -> str:
        data = ConfigMap(metadata=ObjectMeta(name="hub-0"), data={"config-overlay.toml": peers})
        config = InstanceConfig(data, "same")
        return restart_checksum(full_node(**given), config)

    assert checksum("a") == checksum("b") == "same"
    asking = {"strategy": {"restartOnPeerChange": True}}
    assert checksum("a", **asking) != checksum("b", **asking)


def test_a_config_map_is_ours_by_its_owner_or_by_its_labels() -> None:
    of = full_node()
    ours = owned(NodeConfig(metadata=ObjectMeta(name="hub-0", namespace="test")), by=of)
    assert own_config(ours, of) is ours
    orphan = NodeConfig(metadata=ObjectMeta(name="hub-0", labels=labels(of)))
    assert own_config(orphan, of) is orphan
    assert own_config(NodeConfig(metadata=ObjectMeta(name="hub-0")), of) is None
    assert own_config(None, of) is None


def test_the_child_of_another_controller_is_never_adopted() -> None:
    of, other = full_node(), full_node("other")
    meta = ObjectMeta(name="hub-0", namespace="test", labels=labels(of))
    want = NodeConfig(metadata=meta)
    assert adoptable(NodeConfig(metadata=meta), want)
    assert not adoptable(owned(NodeConfig(metadata=meta), by=other), want)
