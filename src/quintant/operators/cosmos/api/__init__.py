"""The words of the Cosmos operator: group, labels, annotations, containers, ports.

Names are those that users of the original know; their manifests apply unchanged. The kinds are in
the modules here (CosmosFullNode) and in the folders of the further kinds.
"""

from __future__ import annotations

GROUP = "cosmos.strange.love"
VERSION = "v1"
CREATED_BY = "cosmos-operator"

NAME_LABEL = "app.kubernetes.io/name"
INSTANCE_LABEL = "app.kubernetes.io/instance"
COMPONENT_LABEL = "app.kubernetes.io/component"
CREATED_BY_LABEL = "app.kubernetes.io/created-by"
VERSION_LABEL = "app.kubernetes.io/version"
REVISION_LABEL = "app.kubernetes.io/revision"
NETWORK_LABEL = f"{GROUP}/network"
TYPE_LABEL = f"{GROUP}/type"
BELONGS_TO_LABEL = f"{GROUP}/belongs-to"
SOURCE_LABEL = f"{GROUP}/source"
OURS = {CREATED_BY_LABEL: CREATED_BY}
"""What every object of ours is found by."""

ORDINAL = "app.kubernetes.io/ordinal"
CHECKSUM = f"{GROUP}/config-checksum"

FULL_NODE = "CosmosFullNode"
"""The component of pods, ConfigMaps and claims."""
P2P, PRIVVAL, RPC, VERSION_CHECK = "p2p", "cosmos-sentry", "rpc", "vc"

NODE_CONTAINER = "node"
HEALTH_CONTAINER = "healthcheck"
VERSION_CONTAINER = "version-check-interval"
CHAIN_INIT = "chain-init"
HOME_VOLUME = "vol-chain-home"

NODE_KEY = "node_key.json"
CONFIG_OVERLAY = "config-overlay.toml"
APP_OVERLAY = "app-overlay.toml"

API_PORT, ROSETTA_PORT, GRPC_PORT, GRPC_WEB_PORT = 1317, 8080, 9090, 9091
PROMETHEUS_PORT, PRIVVAL_PORT = 26660, 1234

HOME = "/home/operator"
"""The home of the user that pods run as."""
