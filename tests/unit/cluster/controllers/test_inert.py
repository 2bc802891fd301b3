"""An event says of every object of an inert kind that nothing becomes of it."""

from __future__ import annotations

from quintant.api.events import Event
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.common.inert_kinds import INERT_KINDS
from quintant.cluster.controllers import inert
from quintant.core.dynamic import Unstructured, dynamic
from quintant.core.resource import resource_of
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster

OLD_SECONDS = 3_600.0
POLICIES = dynamic("networking.k8s.io/v1", "NetworkPolicy")
FLOWS = dynamic("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", namespaced=False)


def policy(name: str) -> Unstructured:
    return POLICIES.of(
        {"metadata": {"name": name, "namespace": "default"}, "spec": {"podSelector": {}}}
    )


async def run(cluster: InProcessCluster) -> None:
    manager = Manager("kube-controller-manager")
    inert.declare(manager)
    await cluster.run(manager)


async def told(cluster: InProcessCluster) -> list[tuple[str, str, str]]:
    """Of what something is told, and what."""
    await cluster.advance(5)
    found = await cluster.client.list(Event)
    return sorted((each.regarding.kind, each.regarding.name, each.note) for each in found)


async def test_it_is_told_once_what_a_real_cluster_would_do(cluster: InProcessCluster) -> None:
    await run(cluster)
    made = await cluster.create(policy("a"))
    note = "nothing in this embedded cluster acts on it; in a real one: the network refuses"
    assert await told(cluster) == [("NetworkPolicy", "a", f"{note} connections")]
    labelled = POLICIES.of(
        {
            "metadata": {"name": "a", "namespace": "default", "labels": {"b": "c"}},
            "spec": {"podSelector": {}},
        }
    )
    await cluster.client.apply(labelled)
    assert made.metadata.name == "a"
    assert len(await told(cluster)) == 1


async def test_what_was_there_long_before_is_not_told_of_again(cluster: InProcessCluster) -> None:
    await cluster.create(policy("old"))
    await cluster.advance(OLD_SECONDS)
    await run(cluster)
    assert await told(cluster) == []


async def test_what_the_server_keeps_for_itself_is_not_told_of(cluster: InProcessCluster) -> None:
    await run(cluster)
    own = {"apf.kubernetes.io/autoupdate-spec": "true"}
    level = {"priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": 9}
    for name, notes in (("kept", own), ("users", {})):
        meta = {"name": name, "annotations": notes}
        await cluster.create(FLOWS.of({"metadata": meta, "spec": level}))
    assert [name for _, name, _ in await told(cluster)] == ["users"]


def test_every_inert_kind_is_followed_where_it_is_served() -> None:
    served = {(str(kind.resource.api_version), kind.resource.plural) for kind in builtin_kinds()}
    followed = {(one.api_version, one.plural) for one in map(resource_of, inert.TYPES.values())}
    assert len(followed) == len(INERT_KINDS)
    assert followed <= served
