"""Simulated pods live as their stages say, and say that they are simulated."""

from __future__ import annotations

import asyncio

from quintant.cluster.simulated.stages import Stage, StageNext, StageSelector
from unit.cluster.api import PODS
from unit.cluster.simulated.simulated_cluster import NODES, condition, phase, pod, read, simulated


async def test_pod_becomes_ready_and_says_that_nothing_runs() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p"))
        await asyncio.sleep(3)
        found = await read(api, "p")
        assert found["status"]["phase"] == "Running"
        assert condition(found, "Ready") == "True"
        assert found["status"]["podIP"]
        assert found["metadata"]["annotations"]["simulated.quintant.dev/pod"] == "true"
        assert found["status"]["reason"] == "Simulated"
        assert found["status"]["message"] == "nothing runs: the node is simulated"
        (container,) = found["status"]["containerStatuses"]
        assert container["imageID"] == "simulated://nginx"


async def test_plain_table_shows_what_is_simulated() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p"))
        await asyncio.sleep(3)
        table = "application/json;as=Table;v=v1;g=meta.k8s.io"
        shown = await api.get(PODS, headers={"accept": table})
        assert shown["rows"][0]["cells"][:3] == ["p", "1/1", "Simulated"]


async def test_pods_have_addresses_of_their_own() -> None:
    async with simulated() as api:
        for number in range(5):
            await api.create(PODS, pod(f"p{number}"))
        await asyncio.sleep(3)
        given = {(await read(api, f"p{number}"))["status"]["podIP"] for number in range(5)}
        assert len(given) == 5


async def test_addresses_of_an_earlier_run_are_not_given_out_again() -> None:
    async with simulated() as before:
        await before.create(PODS, pod("old"))
        await asyncio.sleep(3)
    async with simulated(on=before.server) as api:
        await api.create(PODS, pod("new"))
        await asyncio.sleep(3)
        old, new = [(await read(api, name))["status"]["podIP"] for name in ("old", "new")]
        assert old != new


async def test_pod_of_a_job_completes() -> None:
    async with simulated() as api:
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}
        meta = {"ownerReferences": [{**owner, "controller": True}]}
        await api.create(PODS, pod("p", meta=meta, restartPolicy="Never"))
        await asyncio.sleep(10)
        found = await read(api, "p")
        assert found["status"]["phase"] == "Succeeded"
        ended = found["status"]["containerStatuses"][0]["state"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (0, "Completed")


async def test_deleted_pod_goes_within_its_grace() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p"))
        await asyncio.sleep(3)
        await api.delete(f"{PODS}/p")
        assert (await read(api, "p"))["metadata"]["deletionGracePeriodSeconds"] == 30
        await asyncio.sleep(1)
        await api.get(f"{PODS}/p", code=404)


async def test_init_containers_have_ended_before_the_others_run() -> None:
    async with simulated() as api:
        first = [
            {"name": "once", "image": "x"},
            {"name": "side", "image": "x", "restartPolicy": "Always"},
        ]
        await api.create(PODS, pod("p", initContainers=first))
        await asyncio.sleep(3)
        once, side = (await read(api, "p"))["status"]["initContainerStatuses"]
        assert once["state"]["terminated"]["exitCode"] == 0
        assert "running" in side["state"]


async def test_crashing_pod_backs_off_longer_each_time() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p", fate="crash"))
        await asyncio.sleep(8)
        (container,) = (await read(api, "p"))["status"]["containerStatuses"]
        assert container["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        assert container["lastState"]["terminated"]["exitCode"] == 1
        moments = []
        for _ in range(120):
            await asyncio.sleep(1)
            found = (await read(api, "p"))["status"]["containerStatuses"][0]["restartCount"]
            moments.append(found)
        assert moments[-1] == 3
        pauses = [moments.count(restarts) for restarts in (1, 2)]
        assert pauses[1] > pauses[0] * 1.5


async def test_pod_may_never_become_ready() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p", fate="unready"))
        await asyncio.sleep(60)
        found = await read(api, "p")
        assert found["status"]["phase"] == "Running"
        assert condition(found, "Ready") == "False"


async def test_image_may_be_out_of_reach() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p", fate="pull"))
        await asyncio.sleep(60)
        found = await read(api, "p")
        assert found["status"]["phase"] == "Pending"
        waiting = found["status"]["containerStatuses"][0]["state"]["waiting"]
        assert waiting["reason"] == "ImagePullBackOff"


async def test_stages_of_users_come_first() -> None:
    late = Stage(
        name="late",
        match=StageSelector(labels={"app": "late"}, phase="Pending"),
        delay=20,
        next=StageNext(phase="Running", state="running", ready=True),
    )
    async with simulated(stages=[late]) as api:
        await api.create(PODS, pod("late", labels={"app": "late"}))
        await api.create(PODS, pod("usual"))
        await asyncio.sleep(10)
        assert await phase(api, "usual") == "Running"
        assert await phase(api, "late") == "Pending"
        await asyncio.sleep(15)
        assert await phase(api, "late") == "Running"


async def test_a_pod_says_which_of_its_changes_it_has_seen() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p"))
        await asyncio.sleep(5)
        await api.merge(f"{PODS}/p", {"spec": {"activeDeadlineSeconds": 1000}})
        await asyncio.sleep(5)
        found = await read(api, "p")
        assert found["metadata"]["generation"] == found["status"]["observedGeneration"] == 2
        assert condition(found, "Ready") == "True"


async def test_pod_at_rest_is_not_written_again() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p"))
        await asyncio.sleep(5)
        before = (await read(api, "p"))["metadata"]["resourceVersion"]
        await asyncio.sleep(3600)
        assert (await read(api, "p"))["metadata"]["resourceVersion"] == before


async def test_pods_of_nodes_that_are_not_simulated_are_left_alone() -> None:
    async with simulated(nodes=0) as api:
        await api.create(NODES, {"metadata": {"name": "theirs"}})
        await api.create(PODS, pod("p", nodeName="theirs"))
        await asyncio.sleep(60)
        assert await phase(api, "p") == "Pending"


async def test_pod_of_an_unknown_image_is_simulated_on_the_real_node() -> None:
    async with simulated(nodes=0) as api:
        await api.create(NODES, {"metadata": {"name": "local"}})
        await api.create(PODS, pod("p", nodeName="local"))
        await asyncio.sleep(3)
        found = (await read(api, "p"))["status"]
        assert found["phase"] == "Running"
        assert found["message"].startswith("nothing runs: no program of this machine")


async def test_a_pod_without_a_program_is_simulated_on_a_node_that_runs_processes() -> None:
    async with simulated(nodes=0) as api:
        meta = {"name": "paris", "labels": {"node.quintant.dev/runs": "processes"}}
        addresses = [{"type": "InternalIP", "address": "127.42.0.9"}]
        await api.create(NODES, {"metadata": meta, "status": {"addresses": addresses}})
        await api.create(PODS, pod("p", nodeName="paris"))
        await asyncio.sleep(3)
        found = await read(api, "p")
        assert found["status"]["hostIP"] == "127.42.0.9"
        assert found["status"]["reason"] == "Simulated"
        assert "the node is simulated" not in found["status"]["message"]
