"""Pods on a node: from the object to processes, and back to the object."""

from __future__ import annotations

import asyncio
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest

from quintant.core.clock import monotonic
from unit.cluster.api import PODS
from unit.cluster.kubelet.world import IMAGE, World, condition, container, status

READY = {"httpGet": {"path": "/ready", "port": 80}, "periodSeconds": 1}
ALIVE = {"httpGet": {"path": "/alive", "port": 80}, "periodSeconds": 1, "failureThreshold": 2}


async def test_a_pod_becomes_a_process_and_is_ready(world: World) -> None:
    pod = await world.run()
    assert pod["status"]["phase"] == "Running"
    assert pod["status"]["podIP"].startswith("127.42.")
    assert pod["status"]["observedGeneration"] == 1
    assert status(pod)["state"]["running"]["startedAt"]
    assert [each["type"] for each in pod["status"]["conditions"]] == [
        *("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    assert {each["status"] for each in pod["status"]["conditions"]} == {"True"}
    assert len(world.processes.alive) == 1


async def test_events_tell_how_a_container_came_to_run(world: World) -> None:
    await world.run()
    for reason in ("Pulled", "Created", "Started"):
        assert len(await world.events(reason)) == 1, reason


async def test_an_image_that_is_not_in_the_table_is_left_alone(world: World) -> None:
    pod = await world.run("a", container(), container("other", image="nginx"))
    assert pod["status"]["phase"] == "Pending"
    assert not world.processes.started


async def test_no_two_pods_share_an_address(world: World) -> None:
    pods = [await world.run(name) for name in ("a", "b", "c")]
    assert len({pod["status"]["podIP"] for pod in pods}) == 3


async def test_the_address_of_a_deleted_pod_is_not_given_out_at_once(world: World) -> None:
    first = await world.run("a")
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(1)
    assert await world.gone("a")
    second = await world.run("b")
    assert first["status"]["podIP"] != second["status"]["podIP"]


async def test_init_containers_run_one_after_another_before_the_others(world: World) -> None:
    init = [container("one"), container("two")]
    pod = await world.run("a", container(), initContainers=init)
    assert len(world.processes.started) == 1
    assert condition(pod, "Initialized")["reason"] == "ContainersNotInitialized"
    assert condition(pod, "Initialized")["message"] == (
        "containers with incomplete status: [one two]"
    )
    assert status(pod)["state"]["waiting"]["reason"] == "PodInitializing"
    world.processes.newest.end(0)
    pod = await world.pod()
    assert len(world.processes.started) == 2
    assert status(pod, "one")["state"]["terminated"]["reason"] == "Completed"
    world.processes.newest.end(0)
    pod = await world.pod()
    assert pod["status"]["phase"] == "Running"
    assert condition(pod, "Initialized")["status"] == "True"


async def test_an_init_container_that_fails_is_tried_again(world: World) -> None:
    await world.run("a", container(), initContainers=[container("one")])
    world.processes.newest.end(1)
    pod = await world.pod()
    assert status(pod, "one")["restartCount"] == 1
    assert pod["status"]["phase"] == "Pending"
    world.processes.newest.end(0)
    assert (await world.pod())["status"]["phase"] == "Running"


async def test_an_init_container_that_fails_for_good_fails_the_pod(world: World) -> None:
    init = [container("one")]
    await world.run("a", container(), initContainers=init, restartPolicy="Never")
    world.processes.newest.end(7)
    pod = await world.pod()
    assert pod["status"]["phase"] == "Failed"
    assert status(pod, "one")["state"]["terminated"]["exitCode"] == 7
    assert len(world.processes.started) == 1


async def test_a_sidecar_starts_first_stays_and_ends_last(world: World) -> None:
    init = [container("side", restartPolicy="Always")]
    await world.run("a", container(), initContainers=init, restartPolicy="Never")
    side, main = world.processes.started
    main.end(0)
    pod = await world.pod()
    assert side.signals == [SIGTERM]
    assert pod["status"]["phase"] == "Succeeded"


async def test_a_sidecar_that_ends_is_restarted_whatever_the_policy(world: World) -> None:
    init = [container("side", restartPolicy="Always")]
    await world.run("a", container(), initContainers=init, restartPolicy="Never")
    world.processes.started[0].end(0)
    pod = await world.pod()
    assert status(pod, "side")["restartCount"] == 1
    assert len(world.processes.alive) == 2


async def test_a_crash_is_followed_by_a_restart_at_once_then_by_longer_and_longer_waits(
    world: World,
) -> None:
    await world.run()
    waits = []
    for _ in range(8):
        born, begin = asyncio.Event(), monotonic()
        world.processes.born = lambda _, born=born: born.set()  # type: ignore[misc]
        world.processes.newest.end(1)
        await born.wait()
        waits.append(round(monotonic() - begin))
    assert waits == [0, 10, 20, 40, 80, 160, 300, 300]


async def test_ten_minutes_of_work_make_a_crash_forgotten(world: World) -> None:
    await world.run()
    for _ in range(2):
        world.processes.newest.end(1)
        await asyncio.sleep(11)
    await asyncio.sleep(601)
    world.processes.newest.end(1)
    pod = await world.pod()
    assert status(pod)["state"].get("running")


async def test_a_pod_that_waits_for_a_restart_says_so(world: World) -> None:
    await world.run()
    for _ in range(2):
        world.processes.newest.end(3)
        await asyncio.sleep(0.1)
    pod = await world.pod()
    waiting = status(pod)["state"]["waiting"]
    assert waiting["reason"] == "CrashLoopBackOff"
    uid = pod["metadata"]["uid"]
    assert waiting["message"] == (
        f"back-off 10s restarting failed container=main pod=a_default({uid})"
    )
    assert status(pod)["lastState"]["terminated"]["exitCode"] == 3
    assert status(pod)["restartCount"] == 1
    assert condition(pod, "Ready")["message"] == "containers with unready status: [main]"
    assert await world.events("BackOff") == [
        f"Back-off restarting failed container main in pod a_default({uid})"
    ]


@pytest.mark.parametrize(
    ("policy", "code", "phase", "starts"),
    [
        ("Always", 0, "Running", 2),
        ("OnFailure", 0, "Succeeded", 1),
        ("OnFailure", 1, "Running", 2),
        ("Never", 0, "Succeeded", 1),
        ("Never", 1, "Failed", 1),
    ],
)
async def test_the_policy_says_what_follows_an_end(
    world: World, policy: str, code: int, phase: str, starts: int
) -> None:
    await world.run("a", restartPolicy=policy)
    world.processes.newest.end(code)
    pod = await world.pod()
    assert pod["status"]["phase"] == phase
    assert len(world.processes.started) == starts


async def test_the_end_of_a_pod_is_told_in_its_conditions(world: World) -> None:
    await world.run("a", restartPolicy="Never")
    world.processes.newest.end(0)
    pod = await world.pod()
    assert condition(pod, "Ready")["reason"] == "PodCompleted"
    assert condition(pod, "Initialized")["reason"] == "PodCompleted"
    assert condition(pod, "PodReadyToStartContainers")["status"] == "False"


async def test_a_signal_is_an_exit_code_above_128(world: World) -> None:
    await world.run("a", restartPolicy="Never")
    world.processes.newest.end(-11)
    ended = status(await world.pod())["state"]["terminated"]
    assert (ended["exitCode"], ended["signal"], ended["reason"]) == (139, 11, "Error")


async def test_a_deleted_pod_is_asked_to_end_and_then_is_gone(world: World) -> None:
    await world.run()
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(0.1)
    assert world.processes.newest.signals == [SIGTERM]
    assert await world.gone()
    assert await world.events("Killing") == ["Stopping container main"]
    assert not world.kubelet.workers


async def test_a_pod_deleted_by_force_leaves_no_process(world: World) -> None:
    world.processes.born = lambda process: setattr(process, "stubborn", True)
    await world.run()
    await world.api.delete(f"{PODS}/a", {"gracePeriodSeconds": 0})
    await asyncio.sleep(2.1)
    assert not world.processes.alive
    assert not world.kubelet.workers


async def test_a_namesake_runs_while_the_one_before_ends(world: World) -> None:
    world.processes.born = lambda process: setattr(process, "stubborn", True)
    before = await world.run()
    await world.api.delete(f"{PODS}/a", {"gracePeriodSeconds": 0})
    after = await world.run()
    assert before["status"]["podIP"] != after["status"]["podIP"]
    assert len(world.processes.alive) == 2
    await asyncio.sleep(2.1)
    assert world.processes.alive == [world.processes.newest]
    assert status(await world.pod())["state"].get("running")


async def test_a_finalizer_keeps_the_pod_but_not_its_processes(world: World) -> None:
    held = {"name": "a", "finalizers": ["example.dev/held"]}
    spec = {"nodeName": "local", "containers": [container()]}
    await world.api.create(PODS, {"metadata": held, "spec": spec})
    await asyncio.sleep(0.1)
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(0.1)
    assert not world.processes.alive
    await world.api.merge(f"{PODS}/a", {"metadata": {"finalizers": None}})
    assert await world.gone()


async def test_another_image_restarts_the_container_whatever_the_policy(world: World) -> None:
    await world.run("a", restartPolicy="Never")
    image = {"op": "replace", "path": "/spec/containers/0/image", "value": f"{IMAGE}:2"}
    await world.api.patch(f"{PODS}/a", image)
    pod = await world.pod()
    assert world.processes.started[0].signals == [SIGTERM]
    assert (status(pod)["image"], status(pod)["restartCount"]) == (f"{IMAGE}:2", 1)
    assert await world.events("Killing") == ["Container main definition changed, will be restarted"]
    world.processes.newest.end(0)
    assert (await world.pod())["status"]["phase"] == "Succeeded"


async def test_a_program_that_is_not_there_is_told_as_such(world: World) -> None:
    world.processes.missing = True
    pod = await world.run()
    assert status(pod)["state"]["waiting"]["reason"] == "ErrImageNeverPull"
    world.processes.missing = False
    assert (await world.pod(after=10.1))["status"]["phase"] == "Running"


async def test_nothing_is_written_while_nothing_happens(world: World) -> None:
    before = await world.run("a", container(livenessProbe=ALIVE, readinessProbe=READY))
    settled = await world.pod(after=2)
    later = await world.pod(after=3600)
    assert before["metadata"]["uid"] == settled["metadata"]["uid"]
    assert settled["metadata"]["resourceVersion"] == later["metadata"]["resourceVersion"]


async def test_a_pod_goes_on_with_the_next_agent(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.at_work():
        await world.run()
    async with world.at_work():
        pod = await world.pod(after=0.1)
        assert status(pod)["restartCount"] == 1
        assert status(pod)["lastState"]["terminated"]["exitCode"] == 255
        assert pod["status"]["phase"] == "Running"


async def test_a_finished_pod_is_left_alone_by_the_next_agent(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.at_work():
        await world.run("a", restartPolicy="Never")
        world.processes.newest.end(0)
        before: dict[str, Any] = await world.pod()
    async with world.at_work():
        assert (await world.pod(after=1))["status"] == before["status"]
        assert len(world.processes.started) == 1
        await world.api.delete(f"{PODS}/a")
        assert await world.gone()


async def test_a_node_that_is_about_to_go_starts_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.at_work() as kubelet:
        await world.run("a")
        kubelet.stop_starting()
        await world.run("b")
        world.processes.newest.end(1)
        await world.pod(after=20)
        assert len(world.processes.started) == 1


async def test_processes_are_what_restored_objects_say(world: World) -> None:
    await world.run("kept")
    await world.run("deleted")
    saved = world.server.snapshot()
    await world.api.delete(f"{PODS}/deleted")
    await world.run("new")
    await asyncio.sleep(1)
    kept, new = world.processes.alive
    world.server.restore(saved)
    pod = await world.pod("deleted", after=15)
    assert (kept.alive, new.alive, len(world.processes.alive)) == (True, False, 2)
    assert status(pod)["restartCount"] == 1
    assert status(pod)["state"]["running"]
    assert await world.gone("new")


async def test_a_pod_that_ended_since_runs_again_once_it_is_restored(world: World) -> None:
    await world.run("a", restartPolicy="Never", terminationGracePeriodSeconds=3)
    await world.run("b", restartPolicy="OnFailure", terminationGracePeriodSeconds=3)
    saved = world.server.snapshot()
    ending, finished = world.processes.started
    ending.stubborn = True
    finished.end(0)
    await world.api.delete(f"{PODS}/a")
    assert (await world.pod("b"))["status"]["phase"] == "Succeeded"
    world.server.restore(saved)
    pod = await world.pod("b", after=15)
    assert (ending.alive, pod["status"]["phase"]) == (False, "Running")
    # What ran is no more, and its policy says that it is not started a second time.
    assert (await world.pod("a"))["status"]["phase"] == "Failed"


async def test_a_grace_period_passes_with_the_clock(world: World) -> None:
    await world.run("a", terminationGracePeriodSeconds=3600)
    world.processes.newest.stubborn = True
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(1)
    assert len(world.processes.alive) == 1
    world.clock.advance(3600)
    # As a component that is made anew does: it looks at every pod.
    await world.api.merge(f"{PODS}/a", {"metadata": {"labels": {"look": "again"}}})
    await asyncio.sleep(1)
    assert (world.processes.alive, await world.gone("a")) == ([], True)
