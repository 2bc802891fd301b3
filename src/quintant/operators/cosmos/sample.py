"""A chain of three nodes, each a process that behaves like one of CometBFT, and copies of a volume.

The nodes are simulated: `quintant agent chainsim` makes blocks, answers RPC and keeps data on its
volume; the operator, its sidecars, volumes and Services are the real ones. Its arguments are those
of any Cosmos binary, so that a real one can take its place:

    quintant agent chainsim init MONIKER --chain-id ID --home DIR [--pristine DIR]
    quintant agent chainsim start --home DIR

`init` makes a home unless there is one, and with `--pristine` always fresh configuration files in
another folder. `start` reads `config/config.toml`: RPC on 26657, peers on 26656.
"""

from __future__ import annotations

from typing import Any

from quintant.api.core import Service
from quintant.operators.cosmos.api import GROUP
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.remote import HttpNodes, NodeUnreachable, ask_status
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.sample import Sample, SampleProgress
from quintant.version import QUINTANT
from quintant.wire.comet import RPC_PORT

NAMESPACE = "cosmos-demo"
NAME = "sim"
REPLICAS = 3
CHAIN = "sim-1"
_IMAGE = f"quintant:{QUINTANT}"
_SIMULATOR = ["quintant", "agent", "chainsim"]
# On one machine all nodes have addresses that strict address books refuse.
_OVERRIDES = """\
[p2p]
addr_book_strict = false
allow_duplicate_ip = true
"""

Plain = dict[str, Any]


def full_node() -> Plain:
    """The chain."""
    init = [
        *("init", NAME, "--chain-id", CHAIN),
        *("--home", "$(CHAIN_HOME)", "--pristine", "$(HOME)/.tmp"),
    ]
    spec = {
        "replicas": REPLICAS,
        "chain": {
            "chainID": CHAIN,
            "network": "simnet",
            "binary": "chainsim",
            "config": {"overrides": _OVERRIDES},
            "app": {"minGasPrice": "0stake"},
        },
        "podTemplate": {
            "image": _IMAGE,
            "terminationGracePeriodSeconds": 5,
            "initContainers": [{"name": "chain-init", "command": _SIMULATOR, "args": init}],
            "containers": [{"name": "node", "command": _SIMULATOR}],
        },
        "volumeClaimTemplate": {
            "storageClassName": "standard",
            "resources": {"requests": {"storage": "1Gi"}},
            "autoDataSource": {"volumeSnapshotSelector": {f"{GROUP}/source": NAME}},
        },
        "strategy": {"maxUnavailable": 1},
    }
    return _part(f"{GROUP}/v1", "CosmosFullNode", spec)


def schedule() -> Plain:
    """Copies of a volume, with the pod away meanwhile."""
    spec = {
        "fullNodeRef": {"name": NAME},
        "schedule": "* * * * *",
        "volumeSnapshotClassName": "standard",
        "deletePod": True,
        "limit": 2,
    }
    return _part(f"{GROUP}/v1alpha1", "ScheduledVolumeSnapshot", spec)


def _part(version: str, kind: str, spec: Plain) -> Plain:
    meta = {"name": NAME, "namespace": NAMESPACE}
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


async def _look(client: Client) -> SampleProgress:
    found = await client.find(CosmosFullNode, NAME, NAMESPACE, live=True)
    if found is None or found.status is None:
        return SampleProgress(False, "no CosmosFullNode yet")
    ready = found.status.ready_replicas or 0
    if ready < REPLICAS:
        said = f"{found.status.phase}, {ready} of {REPLICAS} nodes are in sync"
        return SampleProgress(False, said)
    height = await _height(client)
    said = f"chain {CHAIN} is at height {height}" if height else "its RPC does not answer yet"
    return SampleProgress(bool(height), f"{ready} simulated nodes are in sync; {said}")


async def _height(client: Client) -> int:
    """What the RPC Service says, asked as any user would."""
    service = await client.find(Service, f"{NAME}-rpc", NAMESPACE, live=True)
    if service is None:
        return 0
    connection = HttpNodes().connect(service.spec.cluster_ip, RPC_PORT)
    try:
        return (await ask_status(connection)).height
    except (TimeoutError, NodeUnreachable):
        return 0
    finally:
        await connection.close()


_IMAGE_PATH = "/spec/podTemplate/terminationGracePeriodSeconds"
SAMPLE = Sample(
    NAMESPACE,
    (full_node(), schedule()),
    _look,
    (
        f"kubectl -n {NAMESPACE} get cosmosfullnodes,pods,volumesnapshots",
        f"kubectl -n {NAMESPACE} patch cosmosfullnode {NAME} --type json -p "
        f'\'[{{"op": "replace", "path": "{_IMAGE_PATH}", "value": 6}}]\'',
        f"kubectl -n {NAMESPACE} scale cosmosfullnode {NAME} --replicas 4",
        f"kubectl -n {NAMESPACE} events",
    ),
)
