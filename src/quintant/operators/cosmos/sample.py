"""A chain of three nodes, each a process that behaves like one of CometBFT, and copies of a volume.

The nodes are simulated: `quintant agent chainsim` makes blocks, answers RPC and keeps data on its
volume; the operator, its sidecars, volumes and Services are the real ones. Its arguments are those
of any Cosmos binary, so that a real one can take its place:

    quintant agent chainsim init MONIKER --chain-id ID --home DIR [--pristine DIR]
    quintant agent chainsim start --home DIR

`init` makes a home unless there is one, and with `--pristine` always fresh configuration files in
another folder. `start` reads `config/config.toml`: RPC on 26657, peers on 26656.

Who has CometBFT sees that instead: examples/cosmos/kvstore.yaml, where the image table has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quintant.api.core import Service
from quintant.operators.cosmos.api import GROUP
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.remote import HttpNodes, NodeUnreachable, ask_status
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.sample import RealProgram, Sample, SampleProgress, example, manifests
from quintant.version import QUINTANT
from quintant.wire.comet import RPC_PORT, CometStatus

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


@dataclass(frozen=True, slots=True)
class ChainLook:
    """How a chain is looked at: its CosmosFullNode, and what its RPC Service says."""

    name: str
    simulated: bool = False

    async def __call__(self, client: Client) -> SampleProgress:
        """How far it is."""
        found = await client.find(CosmosFullNode, self.name, NAMESPACE, live=True)
        if found is None or found.status is None:
            return SampleProgress(False, "no CosmosFullNode yet")
        ready, wanted = found.status.ready_replicas or 0, found.spec.replicas
        if ready < wanted:
            message = f"{found.status.phase}, {ready} of {wanted} nodes are in sync"
            return SampleProgress(False, message)
        status = await self._rpc_status(client)
        if status is None or not status.height:
            return SampleProgress(
                False, f"{ready} nodes are in sync; their RPC does not answer yet"
            )
        what = "simulated nodes" if self.simulated else f"nodes of real CometBFT {status.version}"
        message = f"{ready} {what} are in sync; chain {status.network} is at height {status.height}"
        return SampleProgress(True, message)

    async def _rpc_status(self, client: Client) -> CometStatus | None:
        """What the RPC Service says, asked as any user would."""
        service = await client.find(Service, f"{self.name}-rpc", NAMESPACE, live=True)
        if service is None:
            return None
        connection = HttpNodes().connect(service.spec.cluster_ip, RPC_PORT)
        try:
            return await ask_status(connection)
        except (TimeoutError, NodeUnreachable):
            return None
        finally:
            await connection.close()


def _tries(name: str) -> tuple[str, ...]:
    """To look at it, to see it roll, to see a copy restored into a fourth node."""
    changed = f'{{"op": "replace", "path": "{_GRACE_PATH}", "value": 6}}'
    return (
        f"kubectl -n {NAMESPACE} get cosmosfullnodes,pods,volumesnapshots",
        f"kubectl -n {NAMESPACE} patch cosmosfullnode {name} --type json -p '[{changed}]'",
        f"kubectl -n {NAMESPACE} scale cosmosfullnode {name} --replicas 4",
        f"kubectl -n {NAMESPACE} events",
    )


def _real() -> Sample:
    documents = manifests(example("cosmos/kvstore.yaml"))
    return Sample(NAMESPACE, documents, ChainLook("kvstore"), _tries("kvstore"))


_GRACE_PATH = "/spec/podTemplate/terminationGracePeriodSeconds"
SAMPLE = Sample(
    NAMESPACE,
    (full_node(), schedule()),
    ChainLook(NAME, simulated=True),
    _tries(NAME),
    real=RealProgram("cometbft/cometbft", "cometbft", _real),
)
