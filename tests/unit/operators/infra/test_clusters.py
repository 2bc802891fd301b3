"""An operator that is installed once acts in every cluster that infra has made."""

from __future__ import annotations

from quintant import Manager, ObjectMeta
from quintant.api.core import ConfigMap
from quintant.operators.infra.api import Cluster, ClusterSpec
from quintant.operators.infra.builders import kubeconfig_secret
from quintant.operators.infra.clusters import infra_clusters
from quintant.runtime.clusters.states import ClusterState
from quintant.testing import InProcessCluster, named
from scenarios.greeter import Greeter, greeter, reconcile


def cluster_named(name: str, uid: str) -> Cluster:
    return Cluster(metadata=named(name, uid=uid), spec=ClusterSpec())


async def test_the_secrets_that_infra_writes_are_clusters_by_the_names_of_theirs(
    cluster: InProcessCluster,
) -> None:
    manager = Manager("greeter")
    manager.clusters(infra_clusters())
    manager.controls(Greeter).owns(ConfigMap).reconcile(reconcile)
    engine = await cluster.run(manager)
    made = [InProcessCluster(seed=seed) for seed in range(2)]
    for number, other in enumerate(made):
        name = f"made-{number}"
        text = cluster.beside(name, other)
        await other.create(greeter("a", name))
        await cluster.client.create(kubeconfig_secret(cluster_named(name, f"u{number}"), text))
    for number, other in enumerate(made):
        child = await other.eventually(ConfigMap, "a")
        assert child.data == {"text": f"made-{number}"}
    await cluster.advance(5)
    assert engine.clusters is not None
    states = {name: each.state for name, each in engine.clusters.conditions.items()}
    assert states == {
        "default.made-0": ClusterState.READY,
        "default.made-1": ClusterState.READY,
    }


async def test_a_secret_that_claims_the_cluster_of_another_is_not_taken(
    cluster: InProcessCluster,
) -> None:
    manager = Manager("greeter")
    manager.clusters(infra_clusters())
    manager.controls(Greeter).owns(ConfigMap).reconcile(reconcile)
    engine = await cluster.run(manager)
    true, false = InProcessCluster(seed=1), InProcessCluster(seed=2)
    await true.install(Greeter)
    secret = kubeconfig_secret(cluster_named("made", "u1"), cluster.beside("true", true))
    await cluster.client.create(secret)
    await cluster.advance(5)
    forged = kubeconfig_secret(cluster_named("made", "u2"), cluster.beside("false", false))
    meta = ObjectMeta(
        name="forged",
        namespace="default",
        labels=forged.metadata.labels,
        owner_references=forged.metadata.owner_references,
    )
    await cluster.client.create(type(forged)(metadata=meta, data=forged.data))
    await cluster.advance(10)
    assert engine.clusters is not None
    assert list(engine.clusters.conditions) == ["default.made"]
    assert false.faults.seen() == []
