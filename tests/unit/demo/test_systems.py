"""Which systems the demo shows, and with what."""

from __future__ import annotations

import pytest

from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.core.errors import ConfigError
from quintant.demo.systems import systems
from quintant.runtime.shard.group_lease import MAP
from quintant.runtime.shard.process import layout_digest, sharded_controllers
from quintant.runtime.shard.shard_map import decode_map

COMETBFT = ImageProgram(image="cometbft/cometbft", command="cometbft", argv=("/bin/cometbft",))
OTHER = ImageProgram(image="busybox", command="*")


def kinds(*images: ImageProgram) -> list[str]:
    (system,) = systems(["cosmos"], images)
    return [manifest["kind"] for manifest in system.sample.manifests]


def test_what_is_simulated_is_real_where_the_table_has_its_program() -> None:
    assert kinds() == kinds(OTHER) == ["CosmosFullNode", "ScheduledVolumeSnapshot"]
    assert "StatefulSet" in kinds(OTHER, COMETBFT)  # the validator of the example


def test_a_name_that_is_no_systems_is_told() -> None:
    with pytest.raises(ConfigError, match="there is no system 'comos'"):
        systems(["comos"])


def test_portal_runs_in_two_pods_that_share_its_work_from_the_first_second() -> None:
    (system,) = systems(["portal"])
    made = system.installation()
    (deployment,) = [each for each in made if each["kind"] == "Deployment"]
    (lease,) = [each for each in made if each["kind"] == "Lease"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert deployment["spec"]["replicas"] == 2
    assert "--shards" in container["args"]
    assert made.index(lease) < made.index(deployment)
    shards = decode_map(lease["metadata"]["annotations"][MAP])
    declared = system.manager.declarations
    assert shards.layout == layout_digest(shards.ranges, sharded_controllers(declared))
    assert shards.proven
    assert not shards.held
    assert "quintant shards portal" in system.member_tries[0]


def test_what_has_one_pod_has_no_members_to_show() -> None:
    others = [each for each in systems() if each.name != "portal"]
    assert [each.member_tries for each in others] == [()] * len(others)
