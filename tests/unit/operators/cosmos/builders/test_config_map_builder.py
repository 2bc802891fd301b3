"""The files of a node: layers, both spellings, siblings, and what a pod is restarted for."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from quintant.operators.cosmos.api.chain import ChainVersion
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.builders.config_map_builder import (
    SIBLINGS,
    InstanceConfig,
    build_config_maps,
    halt_height,
    neighbours,
)
from quintant.operators.cosmos.builders.node_key_builder import build_node_key
from quintant.operators.cosmos.builders.peer_builder import build_peers
from unit.operators.cosmos.full_nodes import full_node


def built(of: CosmosFullNode, height: int = 0) -> dict[str, InstanceConfig]:
    names = [f"{of.metadata.name}-{at}" for at in range(of.spec.replicas)]
    keys = {name: build_node_key(bytes([at + 1] * 32)) for at, name in enumerate(names)}
    return build_config_maps(of, keys, build_peers(of, keys, ()), dict.fromkeys(names, height))


def comet(of: CosmosFullNode, at: int = 0) -> dict[str, Any]:
    data = built(of)[f"hub-{at}"].config_map.data
    return tomllib.loads(data["config-overlay.toml"])


def app(of: CosmosFullNode, height: int = 0) -> dict[str, Any]:
    return tomllib.loads(built(of, height)["hub-0"].config_map.data["app-overlay.toml"])


def test_siblings_are_peers_and_a_node_is_not_its_own() -> None:
    of = full_node(chain={"config": {"peers": "a@b:1", "privatePeerIDs": "x", "seeds": "s@t:2"}})
    ids = [build_node_key(bytes([at + 1] * 32)).node_id for at in range(3)]
    peers = [f"{ids[at]}@hub-p2p-{at}.test.svc.cluster.local:26656" for at in range(3)]
    found = comet(of)["p2p"]
    assert found["persistent_peers"] == ",".join([*sorted(peers[1:]), "a@b:1"])
    assert found["persistent-peers"] == found["persistent_peers"]
    assert found["private_peer_ids"] == ",".join([*sorted(ids[1:]), "x"])
    assert found["unconditional_peer_ids"] == ",".join(sorted(ids[1:]))
    assert found["seeds"] == "s@t:2"
    assert ids[0] not in found["persistent_peers"]


def test_of_many_siblings_each_has_as_many_as_have_it() -> None:
    ring = list(range(1000))
    found = {at: set(neighbours(ring, at)) for at in ring}
    assert {len(each) for each in found.values()} == {SIBLINGS}
    assert all(at in found[other] for at in ring for other in found[at])
    assert all((at + 1) % 1000 in found[at] for at in ring)  # so all are connected


@pytest.mark.parametrize("count", [1, 2, 3, SIBLINGS + 1])
def test_few_siblings_are_all_told(count: int) -> None:
    ring = list(range(count))
    assert all(set(neighbours(ring, at)) == {*ring} - {at} for at in ring)


def test_the_domain_of_the_cluster_is_the_users() -> None:
    found = comet(full_node(service={"clusterDomain": "foo.bar"}))["p2p"]
    assert ".test.svc.foo.bar:26656" in found["persistent_peers"]


def test_defaults_are_there_and_overrides_win() -> None:
    overrides = "[p2p]\nmax_num_inbound_peers = 7\nallow_duplicate_ip = true\n[new]\nlist = [1]\n"
    found = comet(
        full_node(chain={"config": {"overrides": overrides, "corsAllowedOrigins": ["*"]}})
    )
    assert found["log_level"] == "info"
    assert found["p2p"]["max_num_inbound_peers"] == 7
    assert found["p2p"]["allow_duplicate_ip"] is True
    assert found["new"] == {"list": [1]}
    assert found["rpc"]["cors_allowed_origins"] == ["*"]
    assert found["instrumentation"]["prometheus_listen_addr"] == ":26660"
    assert found["tx_index"] == {"indexer": "kv"}


def test_a_sentry_listens_for_its_signer_and_indexes_nothing() -> None:
    found = comet(full_node(type="Sentry"))
    assert found["priv_validator_laddr"] == "tcp://0.0.0.0:1234"
    assert found["priv-validator-laddr"] == "tcp://0.0.0.0:1234"
    assert found["tx_index"]["indexer"] == found["tx-index"]["indexer"] == "null"


def test_the_settings_of_the_application_are_written_as_it_reads_them() -> None:
    pruning = {"strategy": "custom", "interval": 17, "keepEvery": 1000, "keepRecent": 5000,
               "minRetainBlocks": 10000}  # fmt: skip
    of = full_node(chain={"app": {
        "minGasPrice": "1uatom", "haltHeight": 12345678, "pruning": pruning,
        "apiEnableUnsafeCORS": True, "overrides": "[rosetta]\nenable = true\n",
    }})  # fmt: skip
    found = app(of)
    assert found["minimum-gas-prices"] == "1uatom"
    assert found["halt-height"] == 12345678
    assert (found["pruning"], found["pruning-interval"]) == ("custom", "17")
    assert (found["pruning-keep-every"], found["pruning-keep-recent"]) == ("1000", "5000")
    assert found["min-retain-blocks"] == 10000
    assert found["api"]["enabled-unsafe-cors"] is True
    assert found["grpc-web"]["enable-unsafe-cors"] is False
    assert found["rosetta"] == {"enable": True}


def test_without_an_application_there_is_no_gas_price_and_no_halt() -> None:
    of = full_node(chain={"app": None, "versions": [{"height": 0, "image": "a"}]})
    assert app(of)["minimum-gas-prices"] == ""
    assert app(of)["halt-height"] == 0


def versions(*heights: tuple[int, bool]) -> list[ChainVersion]:
    return [ChainVersion(height=h, image=f"v{h}", set_halt_height=halt) for h, halt in heights]


@pytest.mark.parametrize(
    ("height", "halt"), [(0, 0), (1, 0), (99, 0), (100, 300), (299, 300), (300, 0), (500, 0)]
)
def test_a_node_halts_at_the_next_version_that_asks_for_it(height: int, halt: int) -> None:
    assert (
        halt_height(versions((0, False), (100, False), (300, True), (400, False)), height) == halt
    )


def test_the_halt_of_versions_replaces_the_users() -> None:
    table = [{"height": 0, "image": "a"}, {"height": 9, "image": "b", "setHaltHeight": True}]
    of = full_node(chain={"app": {"minGasPrice": "1u", "haltHeight": 5}, "versions": table})
    assert app(of, 3)["halt-height"] == 9
    assert app(of, 9)["halt-height"] == 0


def test_building_twice_gives_the_same_bytes() -> None:
    assert built(full_node()) == built(full_node())


def test_scaling_changes_no_checksum_and_an_outside_address_does() -> None:
    three, four = built(full_node(replicas=3)), built(full_node(replicas=4))
    assert three["hub-0"].config_map.data != four["hub-0"].config_map.data
    assert three["hub-0"].checksum == four["hub-0"].checksum
    given = {"hub-0": {"externalAddress": "1.2.3.4:26656"}}
    outside = built(full_node(replicas=3, instanceOverrides=given))
    assert outside["hub-0"].checksum != three["hub-0"].checksum
    assert outside["hub-1"].checksum == three["hub-1"].checksum
    text = outside["hub-0"].config_map.data["config-overlay.toml"]
    assert tomllib.loads(text)["p2p"]["external_address"] == "1.2.3.4:26656"


def test_a_config_map_has_three_keys_and_is_the_instances() -> None:
    found = built(full_node(replicas=2, ordinals={"start": 0}))["hub-1"].config_map
    assert list(found.data) == ["config-overlay.toml", "app-overlay.toml", "node_key.json"]
    assert found.metadata.name == "hub-1"
    assert found.metadata.annotations["app.kubernetes.io/ordinal"] == "1"


def test_state_sync_names_its_servers_and_leaves_trust_to_the_start() -> None:
    servers = ["https://a.example.com:443", "https://b.example.com:443"]
    found = comet(full_node(chain={"stateSync": {"rpcServers": servers}}))["statesync"]
    assert found["enable"] is True
    assert found["rpc_servers"] == found["rpc-servers"] == ",".join(servers)
    assert found["trust_period"] == "168h0m0s"
    assert "statesync" not in comet(full_node())
