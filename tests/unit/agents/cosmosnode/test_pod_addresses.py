"""Addresses of a configuration on a machine that many pods share."""

from __future__ import annotations

import pytest

from quintant.agents.cosmosnode.pod_addresses import rewrite_addresses

SERVICES = {"hub-p2p-1.test.svc.cluster.local": ("127.43.0.5", 26656)}


def rewritten(key: str, value: object) -> object:
    document = {"table": {key: value}}
    found = rewrite_addresses(document, "127.42.0.9", lambda host, _: SERVICES.get(host))
    return found["table"][key]


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        ("tcp://0.0.0.0:26657", "tcp://127.42.0.9:26657"),
        ("0.0.0.0:9090", "127.42.0.9:9090"),
        (":26660", "127.42.0.9:26660"),
        ("tcp://127.0.0.1:26658", "tcp://127.0.0.1:26658"),
        ("10.0.0.0:1", "10.0.0.0:1"),
        ("", ""),
        (7, 7),
        (["0.0.0.0:1"], ["0.0.0.0:1"]),
    ],
)
def test_every_address_becomes_the_pods(value: object, becomes: object) -> None:
    assert rewritten("laddr", value) == becomes


@pytest.mark.parametrize("key", ["persistent_peers", "persistent-peers", "seeds"])
def test_names_of_services_become_addresses_and_others_stay(key: str) -> None:
    peers = "aa@hub-p2p-1.test.svc.cluster.local:26656,bb@seed.example.com:26656"
    assert rewritten(key, peers) == "aa@127.43.0.5:26656,bb@seed.example.com:26656"


def test_servers_of_state_sync_are_resolved_too() -> None:
    servers = "http://hub-p2p-1.test.svc.cluster.local:26656, 10.0.0.1:26657"
    assert rewritten("rpc_servers", servers) == "http://127.43.0.5:26656,10.0.0.1:26657"


def test_what_is_no_peer_stays_as_it_was_written() -> None:
    assert rewritten("persistent_peers", "nonsense,a@b") == "nonsense,a@b"
