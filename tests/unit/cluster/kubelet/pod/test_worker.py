"""A pod's place: its orders, its volumes, and when it is looked at again."""

from __future__ import annotations

import asyncio
from signal import SIGKILL, SIGTERM

from quintant.cluster.kubelet.pod.worker import RETRY_SECONDS
from unit.cluster.api import PODS
from unit.cluster.kubelet.world import IMAGE, World, status

CONFIGS = "/api/v1/namespaces/default/configmaps"


async def test_who_does_not_end_within_the_grace_is_killed(world: World) -> None:
    world.processes.born = lambda process: setattr(process, "stubborn", True)
    await world.run(terminationGracePeriodSeconds=5)
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(4.9)
    assert world.processes.newest.signals == [SIGTERM]
    assert not await world.gone()
    await asyncio.sleep(0.2)
    assert world.processes.newest.signals == [SIGTERM, SIGKILL]
    assert await world.gone()


async def test_a_second_deletion_may_shorten_the_grace(world: World) -> None:
    world.processes.born = lambda process: setattr(process, "stubborn", True)
    await world.run(terminationGracePeriodSeconds=60)
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(1)
    await world.api.delete(f"{PODS}/a", {"gracePeriodSeconds": 2})
    await asyncio.sleep(2.1)
    assert world.processes.newest.signals == [SIGTERM, SIGKILL]
    assert await world.gone()


async def test_a_pod_whose_time_is_up_fails(world: World) -> None:
    await world.run("a", activeDeadlineSeconds=5)
    pod = await world.pod(after=5.2)
    assert pod["status"]["phase"] == "Failed"
    assert pod["status"]["reason"] == "DeadlineExceeded"
    assert not world.processes.alive


async def test_a_stubborn_pod_whose_time_is_up_is_killed(world: World) -> None:
    world.processes.born = lambda process: setattr(process, "stubborn", True)
    await world.run("a", activeDeadlineSeconds=5, terminationGracePeriodSeconds=10)
    assert (await world.pod(after=10))["status"]["phase"] == "Running"
    assert (await world.pod(after=6))["status"]["phase"] == "Failed"
    assert world.processes.newest.signals == [SIGTERM, SIGKILL]


async def test_a_missing_volume_holds_all_containers_until_it_is_there(world: World) -> None:
    volumes = [{"name": "c", "configMap": {"name": "c"}}]
    pod = await world.run("a", volumes=volumes)
    assert status(pod)["state"]["waiting"]["reason"] == "ContainerCreating"
    assert await world.events("FailedMount") == [
        'MountVolume.SetUp failed for volume "c" : configmap "c" not found'
    ]
    await world.api.create(CONFIGS, {"metadata": {"name": "c"}, "data": {"k": "v"}})
    assert (await world.pod())["status"]["phase"] == "Running"


async def test_what_cannot_be_mounted_is_complained_about_once(world: World) -> None:
    await world.run("a", volumes=[{"name": "c", "configMap": {"name": "c"}}])
    await asyncio.sleep(5 * RETRY_SECONDS)
    listed = await world.api.get("/api/v1/namespaces/default/events")
    told = [each for each in listed["items"] if each["reason"] == "FailedMount"]
    assert [each.get("series") for each in told] == [None]


async def test_a_volume_that_goes_away_does_not_end_what_runs(world: World) -> None:
    await world.api.create(CONFIGS, {"metadata": {"name": "c"}})
    await world.run("a", volumes=[{"name": "c", "configMap": {"name": "c"}}])
    await world.api.delete(f"{CONFIGS}/c")
    pod = await world.pod(after=5 * RETRY_SECONDS)
    assert pod["status"]["phase"] == "Running"
    assert len(await world.events("FailedMount")) == 1


def debugger(**more: object) -> dict[str, object]:
    found = {"name": "debugger", "image": IMAGE, **more}
    return {"spec": {"ephemeralContainers": [found]}}


async def test_a_debugger_is_added_to_a_pod_that_runs(world: World) -> None:
    await world.run("a")
    await world.api.merge(f"{PODS}/a/ephemeralcontainers", debugger())
    pod = await world.pod()
    (told,) = pod["status"]["ephemeralContainerStatuses"]
    assert (told["name"], told["ready"], list(told["state"])) == ("debugger", False, ["running"])
    assert len(world.processes.alive) == 2
    world.processes.newest.end(4)
    pod = await world.pod(after=1)
    (told,) = pod["status"]["ephemeralContainerStatuses"]
    assert told["state"]["terminated"]["exitCode"] == 4
    assert (pod["status"]["phase"], len(world.processes.started)) == ("Running", 2)


async def test_a_debugger_has_what_it_refers_to(world: World) -> None:
    await world.run("a")
    variable = {"name": "V", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}
    await world.api.merge(f"{PODS}/a/ephemeralcontainers", debugger(env=[variable]))
    pod = await world.pod()
    (told,) = pod["status"]["ephemeralContainerStatuses"]
    assert told["state"]["waiting"]["reason"] == "CreateContainerConfigError"
    await world.api.create(CONFIGS, {"metadata": {"name": "c"}, "data": {"k": "v"}})
    (told,) = (await world.pod())["status"]["ephemeralContainerStatuses"]
    assert "running" in told["state"]
    assert world.processes.newest.launch.env["V"] == "v"


async def test_a_debugger_that_an_earlier_kubelet_ran_is_not_run_again(world: World) -> None:
    await world.run("a")
    await world.api.merge(f"{PODS}/a/ephemeralcontainers", debugger())
    await world.pod()
    known = world.kubelet.workers
    for each in world.processes.alive:
        each.end(0)
    known.clear()
    await world.api.merge(f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}})
    pod = await world.pod(after=1)
    (told,) = pod["status"]["ephemeralContainerStatuses"]
    assert "terminated" in told["state"]
