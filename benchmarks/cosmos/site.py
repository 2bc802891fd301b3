"""Many CosmosFullNodes at rest, served by an embedded API server: for what an operator holds.

One is brought to rest by the operator, so that its objects are as a server stores them; the others
are copies of them in the store, each with the names, uids and revisions of its own. No controller
runs beside, and every node is answered for at one address. `python -m benchmarks.cosmos.site 1000`
prints the path of a kubeconfig, and then, for every line that it reads, what the operator did.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.cosmos.chain import listen, many_files, status_body
from benchmarks.cosmos.rested import NAME, rested
from benchmarks.cosmos.world import FULL_NODES, NAMESPACE, OPERATOR, READS, kubeconfig
from quintant.api.core import Service
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Snapshot
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.core import codec
from quintant.core.address import BindAddress
from quintant.core.object import K
from quintant.operators.cosmos.api import REVISION_LABEL
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodeConfig
from quintant.operators.cosmos.builders.node_key_builder import NodeKey, parse_node_key
from quintant.operators.cosmos.options import Options
from quintant.operators.cosmos.plan.preview import PreviewInputs, child_revisions
from quintant.wire.comet import RPC_PORT

ADDRESS = f"127.{200 + os.getpid() % 50}.255.1"
"""Of every pod."""
_CORE = f"/api/v1/namespaces/{NAMESPACE}"
_RBAC = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}"
LISTS = (
    FULL_NODES, f"{_CORE}/services", f"{_CORE}/configmaps", f"{_CORE}/serviceaccounts",
    f"{_RBAC}/roles", f"{_RBAC}/rolebindings", f"{_CORE}/persistentvolumeclaims", f"{_CORE}/pods",
)  # fmt: skip
"""Where to find them all."""

Children = dict[tuple[str, str], str]
_TABLES = {
    "services": "Service", "configmaps": "ConfigMap", "serviceaccounts": "ServiceAccount",
    "roles.rbac.authorization.k8s.io": "Role",
    "rolebindings.rbac.authorization.k8s.io": "RoleBinding",
    "persistentvolumeclaims": "PersistentVolumeClaim", "pods": "Pod",
    "cosmosfullnodes.cosmos.strange.love": "CosmosFullNode",
}  # fmt: skip
"""The tables of the store, and the kinds in them."""
_UID = re.compile(rb'(?<="uid":")[0-9a-f-]{36}')
_MARK = re.compile(rb'(?<="%s":")[0-9a-f]+' % re.escape(REVISION_LABEL.encode()))


class Done(msgspec.Struct, frozen=True):
    """What an operator did so far."""

    connections: int
    """To nodes, now."""
    writes: dict[str, int]
    """By resource."""


class Example(msgspec.Struct, frozen=True):
    """One CosmosFullNode at rest, and everything that the server had then."""

    snapshot: Snapshot
    full_node: CosmosFullNode
    services: tuple[Service, ...]
    keys: dict[str, NodeKey]
    addresses: tuple[str, ...]
    """Of its pods."""

    def revisions(self, name: str) -> Children:
        """What the children of one of that name are marked with, by kind and name."""
        keys = {own.replace(NAME, name): key for own, key in self.keys.items()}
        given = PreviewInputs(
            Options().tools, keys, tuple(_renamed(each, name) for each in self.services)
        )
        return child_revisions(_renamed(self.full_node, name), given)


async def example() -> Example:
    """One that the operator brought to rest."""
    async with rested() as (world, _):
        services = await world.client.list(Service, NAMESPACE)
        configs = await world.client.list(NodeConfig, NAMESPACE)
        return Example(
            snapshot=world.cluster.server.snapshot(),
            full_node=world.full_nodes[NAME],
            services=tuple(each for each in services if each.metadata.name.startswith(NAME)),
            keys={
                each.metadata.name: parse_node_key(each.data.node_key)
                for each in configs
                if each.metadata.name.startswith(NAME)
            },
            addresses=tuple(pod.status.pod_ip for pod in world.pods.values()),
        )


def stored(first: Example, count: int) -> RevisionStore:
    """A store that has so many of them."""
    store = RevisionStore()
    store.restore(first.snapshot)
    for number in range(count):
        name = f"hub{number:04}"
        revisions = first.revisions(name)
        for table, kind in _TABLES.items():
            known = first.snapshot.tables[table]
            for key in [each for each in known.keys if NAME in each]:
                own = key.replace(NAME, name)
                mark = revisions.get((kind, own.rpartition("/")[2]), "")
                store.put(store.table(table), own, _copied(known.entries[key], number, mark, first))
    return store


def _copied(entry: StoredEntry, number: int, mark: str, first: Example) -> StoredEntry:
    """An entry of the example, as one of the copy of a number."""
    own, name = NAME.encode(), f"hub{number:04}"
    raw = entry.raw.replace(own, name.encode())
    raw = _UID.sub(lambda uid: _fresh(uid[0], number), raw)
    raw = _MARK.sub(mark.encode(), raw) if mark else raw
    for address in first.addresses:
        raw = raw.replace(b'"%s"' % address.encode(), b'"%s"' % ADDRESS.encode())
    labels = {key: each.replace(NAME, name) for key, each in entry.labels.items()}
    if mark:
        labels[REVISION_LABEL] = mark
    values = {key: each.replace(NAME, name) for key, each in entry.field_values.items()}
    return StoredEntry(raw, entry.rv, labels, values)


def _fresh(uid: bytes, number: int) -> bytes:
    """Another uid for every copy; the same for whoever names the same object."""
    return uid if number == 0 else b"%08x%s" % (number, uid[8:])


def _renamed(obj: K, name: str) -> K:
    return codec.decode(type(obj), codec.encode(obj).replace(NAME.encode(), name.encode()))


async def main(count: int) -> None:
    """Serve until killed."""
    store = stored(await example(), count)
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0), store=store)) as cluster:
        cluster.server.tokens.add(OPERATOR, admin(OPERATOR))
        listener = await listen(status_body, ADDRESS, RPC_PORT)
        with TemporaryDirectory(prefix="quintant-bench-") as folder:
            path = Path(folder) / "kubeconfig"
            path.write_text(kubeconfig(cluster))
            print(path, flush=True)
            while await asyncio.to_thread(sys.stdin.readline):
                asked = cluster.server.audit.by(OPERATOR)
                wrote = Counter(each.resource for each in asked if each.verb not in READS)
                done = Done(len(listener.connections), wrote)
                print(msgspec.json.encode(done).decode(), flush=True)
        listener.close()


if __name__ == "__main__":
    import uvloop

    from quintant.runtime.observe import logs

    many_files()
    logs.configure(level="error")
    uvloop.run(main(int(sys.argv[1])))
