"""What users see of operators in real containers while the cluster around them is disturbed.

The tests follow each other on one cluster, and each leaves it whole: the next one begins with
samples that all came true. The last one takes the operators away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from cluster.user import User
from foreign.errors import announce
from quintant.operators import OPERATORS
from quintant.version import QUINTANT
from realcluster.cluster import RealCluster
from realcluster.images.archive import NEXT
from realcluster.install import rolled_out
from realcluster.kubectl import all_of
from realcluster.nodes.node import KUBELET
from realcluster.samples import SAMPLES, Outcome, apply_sample

READY_SECONDS = 60
KINDS = ("cosmosfullnodes", "clusters.infra.quintant.dev", "portalexposes", "edgedevices")

pytestmark = pytest.mark.usefixtures("full", "samples")


def test_an_upgrade_and_its_rollback_lose_no_visitor(user: User) -> None:
    async def rolled() -> set[str]:
        await all_of(rolled_out(user.kubectl, name) for name in OPERATORS)
        return await images(user)

    async def upgraded() -> tuple[list[str], set[str], set[str]]:
        async with user.visiting() as lost:
            await all_of(user.upgrade(name, NEXT) for name in OPERATORS)
            newer = await rolled()
            await expect_all(user)
            announce("upgraded")
            await all_of(map(user.roll_back, OPERATORS))
            older = await rolled()
            await expect_all(user)
            announce("rolled back")
        return lost, newer, older

    lost, newer, older = asyncio.run(upgraded())
    assert newer == {f"quintant:{NEXT}"}
    assert older == {f"quintant:{QUINTANT}"}
    assert lost == []


def test_containers_outlive_a_killed_kubelet(user: User, cluster: RealCluster) -> None:
    before = asyncio.run(containers(user))
    for node in cluster.nodes.values():
        node.kill(KUBELET)
    cluster.await_ready()
    asyncio.run(expect_all(user))
    after = asyncio.run(containers(user))
    assert {name: after.get(name) for name in before} == before


def test_a_drained_node_is_left_without_an_operator_being_away(
    user: User, cluster: RealCluster
) -> None:
    name = cluster.layout.machine(2).name

    async def drained() -> set[str]:
        await user.kubectl(
            *("drain", name, "--ignore-daemonsets", "--delete-emptydir-data", "--force"),
            "--timeout=180s",
        )
        await all_of(rolled_out(user.kubectl, each) for each in OPERATORS)
        nodes = await operator_nodes(user)
        await user.kubectl("uncordon", name)
        # What no controller made is gone for good.
        await apply_sample(user.kubectl, SAMPLES["klight"])
        await expect_all(user)
        return nodes

    assert name not in asyncio.run(drained())


def test_pods_of_a_node_without_power_are_elsewhere_until_it_is_back(
    user: User, cluster: RealCluster
) -> None:
    victim = 1
    name = cluster.layout.machine(victim).name
    cluster.cut_power(victim)

    async def replaced() -> None:
        await user.until(lambda: is_away(user, name))
        await user.until(lambda: leaves(user, name))
        await all_of(rolled_out(user.kubectl, each) for each in OPERATORS)

    announce(f"{name} has lost its power")
    asyncio.run(user.patiently(replaced(), 120))
    cluster.switch_on(victim)
    cluster.await_ready()
    asyncio.run(expect_all(user))


def test_removal_of_operators_leaves_objects_and_what_they_stand_for(user: User) -> None:
    homes = [SAMPLES[name].namespace for name in OPERATORS]

    async def removed() -> tuple[Mapping[str, str], Mapping[str, str], list[str]]:
        # A node that came back starts what it had again, and samples may be true before all of it.
        await user.patiently(user.until(lambda: are_ready(user, homes)), READY_SECONDS)
        before = await containers(user, homes)
        await all_of(user.remove(each, "operator") for each in OPERATORS)
        after = await containers(user, homes)
        kinds = [
            await user.kubectl("get", kind, "--all-namespaces", "--output=name") for kind in KINDS
        ]
        return before, after, kinds

    before, after, kinds = asyncio.run(removed())
    assert after == before
    assert all(kinds)


def test_definitions_go_with_their_objects_once_finalizers_are_released(user: User) -> None:
    async def removed(operator: str) -> None:
        await user.release(operator)
        await user.remove(operator, "crds")

    async def left() -> str:
        await all_of(map(removed, OPERATORS))
        return await user.kubectl("get", "crds", "--output=name")

    assert asyncio.run(left()) == ""


async def operator_pods(user: User) -> list[dict[str, Any]]:
    """The pods of all operators that are not on their way out."""
    homes = {each.namespace for each in OPERATORS.values()}
    pods = (await user.kubectl.get("pods", "--all-namespaces"))["items"]
    return [
        pod
        for pod in pods
        if pod["metadata"]["namespace"] in homes and "deletionTimestamp" not in pod["metadata"]
    ]


async def images(user: User) -> set[str]:
    """The images of all operators."""
    return {pod["spec"]["containers"][0]["image"] for pod in await operator_pods(user)}


async def operator_nodes(user: User) -> set[str]:
    """The nodes on which operators are."""
    return {pod["spec"].get("nodeName", "") for pod in await operator_pods(user)}


async def is_away(user: User, node: str) -> bool:
    """Whether a node is not ready any more."""
    found = await user.kubectl.get("node", node)
    return any(
        each["type"] == "Ready" and each["status"] != "True"
        for each in found["status"]["conditions"]
    )


async def leaves(user: User, node: str) -> bool:
    """Whether no operator is on a node."""
    return node not in await operator_nodes(user)


async def containers(user: User, namespaces: list[str] | None = None) -> Mapping[str, str]:
    """The id of every running container, which no restart keeps."""
    pods = (await user.kubectl.get("pods", "--all-namespaces"))["items"]
    return {
        f"{pod['metadata']['name']}/{each['name']}": each["containerID"]
        for pod in pods
        if namespaces is None or pod["metadata"]["namespace"] in namespaces
        for each in pod["status"].get("containerStatuses", ())
        if "running" in each["state"]
    }


async def are_ready(user: User, namespaces: list[str]) -> bool:
    """Whether every pod there is ready that has not come to its end."""
    pods = (await user.kubectl.get("pods", "--all-namespaces"))["items"]
    return all(
        ("Ready", "True")
        in {(each["type"], each["status"]) for each in pod["status"].get("conditions", ())}
        for pod in pods
        if pod["metadata"]["namespace"] in namespaces
        and pod["status"]["phase"] not in ("Succeeded", "Failed")
    )


async def expect_all(user: User) -> None:
    """Every sample is true again."""
    outcomes: Mapping[str, Outcome] = await user.look()
    wrong = {name: (each.message, each.reasons) for name, each in outcomes.items() if not each.done}
    assert wrong == {}
