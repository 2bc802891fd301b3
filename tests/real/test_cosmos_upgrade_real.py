"""An upgrade of a chain with everything real but the chain: operator, sidecars, volumes, pods.

The nodes are simulated, and halt as those of SDK 0.50 do: alive, and claiming to be in sync.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quintant.api.core import Pod
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from testbeds.cosmos_real import NAMESPACE, is_settled, opened, starts_of, upgrades_told
from testbeds.watched_history import watched_history

pytestmark = pytest.mark.realtime

NAME = "up"
HEIGHT = 30
OVERRIDES = f"""\
[p2p]
addr_book_strict = false
[chainsim]
plan_name = "v2"
plan_height = {HEIGHT}
"""
SIMULATOR = ["quintant", "agent", "chainsim"]
BLOCK_SECONDS = "0.3"
Plain = dict[str, Any]


def full_node() -> Plain:
    init = [
        *("init", NAME, "--chain-id", "up-1"),
        *("--home", "$(CHAIN_HOME)", "--pristine", "$(HOME)/.tmp"),
    ]
    label = {"fieldRef": {"fieldPath": "metadata.labels['app.kubernetes.io/version']"}}
    version = {"name": "CHAINSIM_VERSION", "valueFrom": label}
    often = {"readinessProbe": {"periodSeconds": 1}}
    spec = {
        "replicas": 2,
        "chain": {
            "chainID": "up-1",
            "network": "simnet",
            "binary": "chainsim",
            "app": {"minGasPrice": "0stake"},
            "config": {"overrides": OVERRIDES},
            "additionalStartArgs": ["--block-seconds", BLOCK_SECONDS],
            "versions": [
                {"height": 0, "image": "quintant:v1"},
                {"height": HEIGHT, "image": "quintant:v2"},
            ],
        },
        "podTemplate": {
            "terminationGracePeriodSeconds": 3,
            "initContainers": [{"name": "chain-init", "command": SIMULATOR, "args": init}],
            "containers": [
                {"name": "node", "command": SIMULATOR, "env": [version], **often},
                {"name": "healthcheck", **often},
            ],
        },
        "volumeClaimTemplate": {
            "storageClassName": "standard",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    meta = {"name": NAME, "namespace": NAMESPACE}
    kind = {"apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode"}
    return {**kind, "metadata": meta, "spec": spec}


def is_upgraded(full_node: CosmosFullNode) -> bool:
    """Whether all nodes are in sync beyond the upgrade."""
    heights = (
        [each.height or 0 for each in full_node.status.sync.values()] if full_node.status else []
    )
    return is_settled(full_node) and len(heights) == 2 and min(heights) > HEIGHT


async def test_every_node_is_replaced_once_it_wrote_its_upgrade_and_none_before(
    tmp_path: Path,
) -> None:
    images = tmp_path / "images.yaml"
    images.write_text(json.dumps({"images": []}))
    async with (
        opened(images) as testbed,
        watched_history(testbed.client, CosmosFullNode, NAMESPACE) as nodes,
        watched_history(testbed.client, Pod, NAMESPACE) as pods,
    ):
        await testbed.apply(full_node())
        found = await testbed.until(CosmosFullNode, NAME, is_upgraded, 100)
    wrote, began = upgrades_told(nodes, HEIGHT), starts_of(pods, "quintant:v2")
    assert sorted(began) == sorted(wrote) == ["up-0", "up-1"]
    assert [pod for pod, at in began.items() if at < wrote[pod]] == []
    assert found.status is not None
    assert {each.name for each in found.status.upgrade_info.values()} == {"v2"}
