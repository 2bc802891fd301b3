"""Manifests that use much of what there is, and exactly what they give."""

from __future__ import annotations

import tomllib
from copy import deepcopy
from typing import Any

from quintant.api.core import Service
from testbeds.cosmos import NAMESPACE, CosmosTestbed

WITH_A_DAEMON: dict[str, Any] = {
    "replicas": 3,
    "chain": {
        "chainID": "cosmoshub-4", "network": "testnet", "binary": "cometbft",
        "versions": [{"height": 0, "image": "comet:v0.37.9", "containers": {"app": "app:v0.80.0"},
                      "initContainers": {"app-move": "app:v0.80.0"}}],
    },
    "podTemplate": {
        "probes": {"strategy": "None"},
        "containers": [{"name": "app", "image": "app:v0.80.0"}],
        "initContainers": [
            {"name": "chain-init", "args": ["-c", "exit 0"]},
            {"name": "app-move", "image": "app:v0.80.0"},
        ],
    },
    "service": {"maxP2PExternalAddresses": 3, "p2pTemplate": {"type": "NodePort"}},
    "volumeClaimTemplate": {
        "storageClassName": "standard", "resources": {"requests": {"storage": "10Gi"}},
    },
}  # fmt: skip


def daemon() -> dict[str, Any]:
    meta = {"name": "shielded", "namespace": NAMESPACE}
    kind = {"apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode"}
    return {**kind, "metadata": meta, "spec": WITH_A_DAEMON}


async def test_a_chain_with_a_daemon_of_its_own_beside_the_node(testbed: CosmosTestbed) -> None:
    await testbed.apply(daemon())
    await testbed.settled("shielded")
    owned = await testbed.owned("shielded")
    assert {each for each in owned if each.startswith("Service/")} == {
        "Service/shielded-p2p-0", "Service/shielded-p2p-1", "Service/shielded-p2p-2",
        "Service/shielded-rpc",
    }  # fmt: skip
    assert len(owned) == 4 + 3 + 3 + 3 + 3  # with ConfigMaps, pods, claims, and an account
    for at in range(3):
        service = await testbed.cluster.get(Service, f"shielded-p2p-{at}", NAMESPACE)
        assert service.spec.type == "NodePort"
    pod = (await testbed.pods())["shielded-1"]
    assert _names(pod.spec.containers) == [
        "app", "node", "healthcheck", "version-check-interval",
    ]  # fmt: skip
    assert _names(pod.spec.init_containers) == [
        "clean-init", "chain-init", "app-move", "genesis-init", "addrbook-init", "config-merge",
        "version-check",
    ]  # fmt: skip
    assert [each.image for each in pod.spec.containers[:2]] == ["app:v0.80.0", "comet:v0.37.9"]
    assert not any(each.readiness_probe for each in pod.spec.containers)
    app = tomllib.loads((await testbed.data("shielded-1"))["app-overlay.toml"])
    assert (app["minimum-gas-prices"], app["halt-height"]) == ("", 0)


EVERYTHING: dict[str, Any] = {
    "chain": {
        "homeDir": ".gaia", "logLevel": "info", "logFormat": "json", "skipInvariants": True,
        "genesisURL": "https://example.com/genesis.json", "genesisScript": "echo made by hand",
        "config": {
            "peers": f"{'a' * 40}@example.com:26656", "seeds": f"{'b' * 40}@example.com:26656",
            "maxInboundPeers": 10, "maxOutboundPeers": 10, "corsAllowedOrigins": ["*"],
            "overrides": '[tx_index]\nindexer = "null"\n',
        },
        "app": {
            "minGasPrice": "0.1uatom", "haltHeight": 12345678,
            "pruning": {"strategy": "custom", "interval": 17, "keepEvery": 1000,
                        "keepRecent": 5000, "minRetainBlocks": 10000},
            "overrides": "[rosetta]\nenable = true\n",
        },
    },
    "pod": {
        "metadata": {"labels": {"extra": "1"}, "annotations": {"more": "2"}},
        "probes": {"strategy": "None"}, "priorityClassName": "important", "priority": 1000,
        "terminationGracePeriodSeconds": 60, "nodeSelector": {},
        "tolerations": [{"key": "a", "operator": "Exists"}],
    },
    "claim": {"autoDataSource": {"volumeSnapshotSelector": {"chain": "cosmoshub-4"}}},
    "strategy": {"maxUnavailable": 1},
    "service": {"rpcTemplate": {"type": "NodePort"}},
    "selfHeal": {"pvcAutoScale": {"usedSpacePercentage": 80, "increaseQuantity": "10%"},
                 "heightDriftMitigation": {"threshold": 10}},
    "instanceOverrides": {"cosmoshub-1": {"disable": "All|Pod", "volumeClaimTemplate": {}}},
}  # fmt: skip


async def test_a_manifest_with_nearly_every_field_does_what_each_says(
    testbed: CosmosTestbed,
) -> None:
    await testbed.cluster.client.raw(
        "POST",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        body=b'{"metadata": {"name": "important"}, "value": 1000}',
    )
    await testbed.run(replicas=2, **deepcopy(EVERYTHING))
    pod = (await testbed.pods())["hub-0"]
    assert pod.metadata.labels["extra"] == "1"
    assert pod.metadata.annotations["more"] == "2"
    assert _names(pod.spec.containers) == ["node", "healthcheck"]
    assert not any(each.readiness_probe for each in pod.spec.containers)
    genesis = next(each for each in pod.spec.init_containers if each.name == "genesis-init")
    assert "echo made by hand" in genesis.args[-1]
    overlay = await testbed.data("hub-0")
    comet = tomllib.loads(overlay["config-overlay.toml"])
    assert comet["rpc"]["cors_allowed_origins"] == ["*"]
    assert comet["tx_index"]["indexer"] == "null"
    sizes = comet["p2p"]["max_num_inbound_peers"], comet["p2p"]["max_num_outbound_peers"]
    assert sizes == (10, 10)
    app = tomllib.loads(overlay["app-overlay.toml"])
    assert (app["pruning"], app["pruning-interval"], app["min-retain-blocks"]) == (
        "custom", "17", 10000,
    )  # fmt: skip
    assert (app["halt-height"], app["rosetta"]) == (12345678, {"enable": True})
    assert (await testbed.reasons()).count("SpecWarning") == 1  # there is no cosmoshub-1


def _names(containers: Any) -> list[str]:
    return [each.name for each in containers]
