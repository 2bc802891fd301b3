"""The ConfigMap of an instance: what is laid over its config.toml and app.toml, and its key. Pure.

    defaults < what the operator decides < the overrides of the user

Every key of several words is written in both spellings: forks of CometBFT read hyphens. The
checksum is what pods are restarted for. The siblings of a node are no part of it: they come and go
with scaling, find each other by their own lists, and no node needs a restart for that.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import msgspec

from quintant.api.core import ConfigMap
from quintant.operators.cosmos.api import APP_OVERLAY, CONFIG_OVERLAY, NODE_KEY, PRIVVAL_PORT
from quintant.operators.cosmos.api.chain import ChainSpec, ChainVersion
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.builders.instances import (
    Instance,
    instances,
    is_sentry,
    labels,
    metadata,
    override_of,
)
from quintant.operators.cosmos.builders.node_key_builder import NodeKey
from quintant.operators.cosmos.builders.peer_builder import PeerAddress
from quintant.runtime.apply import digest
from quintant.wire import toml

TRUST_PERIOD = "168h0m0s"
RPC_ADDRESS = "tcp://0.0.0.0:26657"
SIBLINGS = 64
"""Of its own a node is told so many: a thousand lists of a thousand would be 350 MB."""
REMEMBERED_FILES = 1024
"""Files of each sort that are remembered: those of 300 CosmosFullNodes, 2 MB."""
_COMET: dict[str, Any] = {
    "log_level": "info",
    "log_format": "plain",
    "priv_validator_laddr": "",
    "p2p": {
        "laddr": "tcp://0.0.0.0:26656",
        "max_num_inbound_peers": 20,
        "max_num_outbound_peers": 20,
    },
    "rpc": {"laddr": RPC_ADDRESS, "cors_allowed_origins": []},
    "tx_index": {"indexer": "kv"},
    "instrumentation": {"prometheus": True, "prometheus_listen_addr": ":26660"},
}
_APP: dict[str, Any] = {
    "api": {
        "enable": True,
        "swagger": True,
        "address": "tcp://0.0.0.0:1317",
        "enabled-unsafe-cors": False,
    },
    "grpc": {"enable": True, "address": "0.0.0.0:9090"},
    "grpc-web": {"enable": True, "address": "0.0.0.0:9091", "enable-unsafe-cors": False},
}

Table = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class InstanceConfig:
    """The ConfigMap of an instance, and what its pod is restarted for."""

    config_map: ConfigMap
    checksum: str


def build_config_maps(
    full_node: CosmosFullNode,
    keys: Mapping[str, NodeKey],
    peers: Mapping[str, PeerAddress],
    heights: Mapping[str, int],
) -> dict[str, InstanceConfig]:
    """The configuration of every instance, by name; ValueError if an override is no TOML.

    `heights` are those that versions are chosen by.
    """
    return dict(each_config_map(full_node, keys, peers, heights))


def each_config_map(
    full_node: CosmosFullNode,
    keys: Mapping[str, NodeKey],
    peers: Mapping[str, PeerAddress],
    heights: Mapping[str, int],
) -> Iterator[tuple[str, InstanceConfig]]:
    """The same, one after the other."""
    nodes = instances(full_node)
    ring = [peers[each.name] for each in nodes]
    for each in nodes:
        external = override_of(full_node, each.name).external_address or peers[each.name].external
        siblings = neighbours(ring, each.index)
        files = _Files(
            comet=_comet_text(*_comet_inputs(full_node, siblings, external)),
            app=_app_text(*_app_inputs(full_node.spec.chain, heights.get(each.name, 0))),
            alone=_comet_json(*_comet_inputs(full_node, (), external)),
        )
        yield each.name, _config(full_node, each, keys[each.name], files)


def neighbours(ring: Sequence[T], index: int) -> Sequence[T]:
    """All others of a ring; where there are many, as many before an item as after it.

    Whoever is the neighbour of an item has it as one, too, and all are connected.
    """
    others = (*ring[index + 1 :], *ring[:index])
    if len(others) <= SIBLINGS:
        return others
    return others[: SIBLINGS // 2] + others[-SIBLINGS // 2 :]


class _Files(NamedTuple):
    """The files of an instance, and what is in config.toml without its siblings."""

    comet: str
    app: str
    alone: bytes


def _config(
    full_node: CosmosFullNode, instance: Instance, key: NodeKey, files: _Files
) -> InstanceConfig:
    config_map = ConfigMap(
        metadata=metadata(
            full_node, instance.name, labels(full_node, instance=instance.name), instance.index
        ),
        data={CONFIG_OVERLAY: files.comet, APP_OVERLAY: files.app, NODE_KEY: key.text},
    )
    counts = files.alone, files.app.encode(), key.node_id.encode()
    return InstanceConfig(config_map, digest(b"\0".join(counts)))


Inputs = tuple[bytes, str]
"""What the operator decides, as JSON, and the overrides of the user: all that a file depends on."""


def _comet_overlay(decided: bytes, overrides: str) -> Table:
    """What is laid over config.toml."""
    merged = toml.merge(_COMET, _both(msgspec.json.decode(decided)))
    return toml.merge(merged, parse_overrides(overrides))


def _app_overlay(decided: bytes, overrides: str) -> Table:
    """What is laid over app.toml."""
    merged = toml.merge(_APP, msgspec.json.decode(decided))
    return toml.merge(merged, parse_overrides(overrides))


# Files are wanted in every pass and seldom change: each is written once, as TOML is slow to write.
@lru_cache(REMEMBERED_FILES)
def _comet_text(decided: bytes, overrides: str) -> str:
    return toml.dumps(_comet_overlay(decided, overrides))


@lru_cache(REMEMBERED_FILES)
def _app_text(decided: bytes, overrides: str) -> str:
    return toml.dumps(_app_overlay(decided, overrides))


@lru_cache(REMEMBERED_FILES)
def _comet_json(decided: bytes, overrides: str) -> bytes:
    return msgspec.json.encode(_comet_overlay(decided, overrides), order="sorted")


def _comet_inputs(
    full_node: CosmosFullNode, siblings: Sequence[PeerAddress], external: str
) -> Inputs:
    chain = full_node.spec.chain
    decided: Table = {
        **_given("log_level", chain.log_level),
        **_given("log_format", chain.log_format),
        "p2p": _p2p(chain, siblings, external),
        "rpc": _rpc(chain),
    }
    if chain.state_sync is not None:
        decided["statesync"] = {
            "enable": True,
            "rpc_servers": ",".join(chain.state_sync.rpc_servers),
            "trust_period": chain.state_sync.trust_period or TRUST_PERIOD,
        }
    if is_sentry(full_node):
        decided["priv_validator_laddr"] = f"tcp://0.0.0.0:{PRIVVAL_PORT}"
        decided["tx_index"] = {"indexer": "null"}
    return msgspec.json.encode(decided), chain.config.overrides


def _app_inputs(chain: ChainSpec, height: int) -> Inputs:
    app = chain.app
    decided: Table = {"minimum-gas-prices": app.min_gas_price if app else ""}
    if app is not None:
        decided["api"] = {"enabled-unsafe-cors": app.api_enable_unsafe_cors}
        decided["grpc-web"] = {"enable-unsafe-cors": app.grpc_web_enable_unsafe_cors}
        decided |= _given("halt-height", app.halt_height) | _pruning(chain)
    if chain.versions:
        decided["halt-height"] = halt_height(chain.versions, height)
    return msgspec.json.encode(decided), app.overrides if app else ""


def halt_height(versions: Iterable[ChainVersion], height: int) -> int:
    """Where a node at a height is to halt: at the next version, if that asks for it; 0 nowhere."""
    ahead = next((each for each in versions if each.height > height), None)
    return ahead.height if ahead is not None and ahead.set_halt_height else 0


@lru_cache(1024)  # called in every reconcile; its result is never changed
def parse_overrides(text: str) -> Table:
    """The overrides of a user; ValueError says what is no TOML."""
    return tomllib.loads(text) if text else {}


def _p2p(chain: ChainSpec, siblings: Sequence[PeerAddress], external: str) -> Table:
    config = chain.config
    private = sorted(f"{peer.node_id}@{peer.private}" for peer in siblings)
    ids = sorted(peer.node_id for peer in siblings)
    return {
        "persistent_peers": _joined(*private, config.peers),
        "seeds": config.seeds or "",
        **_given("private_peer_ids", _joined(*ids, config.private_peer_ids)),
        **_given("unconditional_peer_ids", _joined(*ids, config.unconditional_peer_ids)),
        **_given("max_num_inbound_peers", config.max_inbound_peers),
        **_given("max_num_outbound_peers", config.max_outbound_peers),
        **_given("external_address", external),
        **_given("laddr", config.p2p_listen_address),
    }


def _rpc(chain: ChainSpec) -> Table:
    origins = list(chain.config.cors_allowed_origins)
    laddr = chain.config.rpc_listen_address or RPC_ADDRESS
    return {"laddr": laddr, **_given("cors_allowed_origins", origins)}


def _pruning(chain: ChainSpec) -> Table:
    pruning = chain.app.pruning if chain.app else None
    if pruning is None:
        return {}
    return {
        "pruning": pruning.strategy,
        "pruning-interval": str(pruning.interval or 0),
        "pruning-keep-every": str(pruning.keep_every or 0),
        "pruning-keep-recent": str(pruning.keep_recent or 0),
        "min-retain-blocks": pruning.min_retain_blocks or 0,
    }


def _both(table: Table) -> Table:
    """Every key in both spellings, those of tables too."""
    spelt: Table = {}
    for key, value in table.items():
        inner = _both(value) if isinstance(value, dict) else value
        spelt[key] = inner
        spelt[key.replace("_", "-")] = inner
    return spelt


def _given(key: str, value: Any) -> Table:
    return {} if value is None or value in ("", []) else {key: value}


def _joined(*parts: str | None) -> str:
    return ",".join(part for part in parts if part)
