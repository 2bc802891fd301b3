"""A container at work: probes, hooks, output, last words and memory."""

from __future__ import annotations

import asyncio
from signal import SIGKILL, SIGTERM

from quintant.cluster.kubelet.process.proc_stats import ProcStat, UsageSampler
from unit.cluster.api import PODS
from unit.cluster.kubelet.world import World, condition, container, status, write

READY = {"httpGet": {"path": "/ready", "port": 80}, "periodSeconds": 1}
ALIVE = {"httpGet": {"path": "/alive", "port": 80}, "periodSeconds": 1, "failureThreshold": 2}


async def test_a_hook_runs_before_the_end(world: World) -> None:
    hook = {"preStop": {"exec": {"command": ["/bin/true", "bye"]}}}
    await world.run("a", container(lifecycle=hook))
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(1)
    main, runner = world.processes.started
    assert runner.launch.argv[1:] == ("bye",)
    assert main.signals == []
    runner.end(0)
    await asyncio.sleep(0.1)
    assert main.signals == [SIGTERM]
    assert await world.gone()


async def test_a_hook_that_takes_too_long_leaves_two_seconds(world: World) -> None:
    hook = {"preStop": {"sleep": {"seconds": 9}}}
    world.processes.born = lambda process: setattr(process, "stubborn", True)
    await world.run("a", container(lifecycle=hook), terminationGracePeriodSeconds=10)
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(10.5)
    assert world.processes.newest.signals == [SIGTERM]
    await asyncio.sleep(1)
    assert world.processes.newest.signals == [SIGTERM, SIGKILL]


async def test_a_readiness_probe_decides_whether_a_pod_is_ready(world: World) -> None:
    world.prober.bad.add("/ready")
    pod = await world.run("a", container(readinessProbe=READY))
    assert condition(pod, "Ready")["reason"] == "ContainersNotReady"
    assert status(pod)["started"] is True
    world.prober.bad.clear()
    assert condition(await world.pod(after=1.1), "Ready")["status"] == "True"
    world.prober.bad.add("/ready")
    assert condition(await world.pod(after=3.1), "Ready")["status"] == "False"
    assert "Readiness probe failed: /ready is bad" in await world.events("Unhealthy")


async def test_a_liveness_probe_that_fails_restarts_the_container(world: World) -> None:
    await world.run("a", container(livenessProbe=ALIVE))
    world.prober.bad.add("/alive")
    await asyncio.sleep(2.1)
    world.prober.bad.clear()
    pod = await world.pod()
    assert status(pod)["restartCount"] == 1
    assert world.processes.started[0].signals == [SIGTERM]
    assert await world.events("Killing") == [
        "Container main failed liveness probe, will be restarted"
    ]


async def test_other_probes_wait_for_the_startup_probe(world: World) -> None:
    startup = {"tcpSocket": {"port": 80}, "periodSeconds": 1, "failureThreshold": 30}
    world.prober.bad |= {"80", "/ready"}
    pod = await world.run("a", container(startupProbe=startup, readinessProbe=READY))
    await asyncio.sleep(3)
    assert status(pod)["started"] is False
    assert "/ready" not in world.prober.asked
    world.prober.bad.clear()
    pod = await world.pod(after=2)
    assert status(pod)["started"] is True
    assert condition(pod, "Ready")["status"] == "True"


async def test_a_startup_probe_that_fails_for_good_restarts_the_container(world: World) -> None:
    startup = {"tcpSocket": {"port": 80}, "periodSeconds": 1, "failureThreshold": 3}
    world.prober.bad.add("80")
    await world.run("a", container(startupProbe=startup))
    assert status(await world.pod(after=2.1))["restartCount"] == 1


async def test_an_exec_probe_runs_a_command_beside_the_container(world: World) -> None:
    probe = {"exec": {"command": ["/bin/true"]}, "periodSeconds": 1}
    world.processes.born = lambda process: (
        process.end(0)
        if "QUINTANT_CONTAINER" in process.launch.env and process.pid > 1000
        else None
    )
    pod = await world.run("a", container(readinessProbe=probe))
    assert condition(pod, "Ready")["status"] == "True"


async def test_readiness_gates_hold_a_pod_back(world: World) -> None:
    pod = await world.run("a", readinessGates=[{"conditionType": "example.dev/open"}])
    assert condition(pod, "ContainersReady")["status"] == "True"
    assert condition(pod, "Ready")["reason"] == "ReadinessGatesNotReady"
    assert condition(pod, "Ready")["message"] == (
        'corresponding condition of pod readiness gate "example.dev/open" does not exist.'
    )
    gate = {"type": "example.dev/open", "status": "True"}
    patch = {"op": "add", "path": "/status/conditions/-", "value": gate}
    await world.api.patch(f"{PODS}/a/status", patch)
    assert condition(await world.pod(), "Ready")["status"] == "True"


async def test_last_words_are_told(world: World) -> None:
    await world.run("a", restartPolicy="Never")
    process = world.processes.newest
    words = f"{process.launch.env['QUINTANT_ROOT']}/dev/termination-log"
    write(words, "I regret nothing\n")
    process.end(1)
    assert status(await world.pod())["state"]["terminated"]["message"] == "I regret nothing"


async def test_the_end_of_the_log_stands_in_for_last_words_if_that_is_asked_for(
    world: World,
) -> None:
    asked = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    await world.run("a", container(**asked), restartPolicy="Never")
    world.processes.newest.say("panic: oh no\n")
    world.processes.newest.end(2)
    assert status(await world.pod())["state"]["terminated"]["message"] == "panic: oh no"


async def test_a_start_hook_that_fails_ends_the_container(world: World) -> None:
    hook = {"postStart": {"exec": {"command": ["/bin/true"]}}}
    await world.run("a", container(lifecycle=hook))
    main, runner = world.processes.started[:2]
    runner.end(1)
    pod = await world.pod()
    assert main.signals == [SIGTERM]
    assert status(pod)["restartCount"] == 1
    assert await world.events("FailedPostStartHook") == ["PostStartHook failed"]


async def test_a_command_that_takes_too_long_is_a_bad_answer(world: World) -> None:
    probe = {"exec": {"command": ["/bin/true", "long"]}, "periodSeconds": 1, "failureThreshold": 1}
    await world.run("a", container(livenessProbe=probe))
    pod = await world.pod(after=1.1)
    assert status(pod)["restartCount"] == 1
    assert await world.events("Unhealthy") == [
        'Liveness probe failed: command timed out: "/bin/true long" timed out after 1s'
    ]
    commands = [each for each in world.processes.started if "long" in each.launch.argv]
    assert SIGKILL in commands[0].signals


async def test_who_takes_too_much_memory_is_ended(world: World) -> None:
    limits = {"limits": {"memory": "10Mi"}}
    await world.run("a", container(resources=limits), restartPolicy="Never")
    pid = world.processes.newest.pid
    memory = {pid: 4, pid + 1: 4}

    def table() -> dict[int, ProcStat]:
        parents = {pid: 1, pid + 1: pid}
        return {
            each: ProcStat(parents[each], 0, 0.5, size * 2**20) for each, size in memory.items()
        }

    sampler = UsageSampler(world.node.name, world.kubelet.sandboxes, world.node.now, table)
    sampler.sample()
    await asyncio.sleep(2)
    sampler.sample()
    (usage,) = sampler.pods(()).values()
    assert usage.containers["main"].memory == 8 * 2**20
    assert world.processes.newest.alive
    memory[pid + 1] = 7
    sampler.sample()
    ended = status(await world.pod())["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)


async def test_logs_are_those_of_the_incarnation_that_is_asked_for(world: World) -> None:
    await world.run()
    world.processes.newest.say("first\n")
    world.processes.newest.end(1)
    await asyncio.sleep(0.1)
    world.processes.newest.say("second\n")
    reply = await world.api.send("GET", f"{PODS}/a/log")
    assert (reply.status, reply.body) == (200, b"second\n")
    reply = await world.api.send("GET", f"{PODS}/a/log", previous="true")
    assert reply.body == b"first\n"


async def test_logs_are_followed_until_the_container_ends(world: World) -> None:
    await world.run()
    process = world.processes.newest
    process.say("one\n")

    async def later() -> None:
        await asyncio.sleep(5)
        process.say("two\n")
        process.end(0)

    task = asyncio.ensure_future(later())
    reply = await world.api.send("GET", f"{PODS}/a/log", follow="true")
    assert reply.body == b"one\ntwo\n"
    await task


async def test_a_container_that_waits_has_no_logs(world: World) -> None:
    await world.run("a", container(), initContainers=[container("one")])
    reply = await world.api.get(f"{PODS}/a/log", container="main", code=400)
    assert reply["message"] == ('container "main" in pod "a" is waiting to start: PodInitializing')
    reply = await world.api.get(f"{PODS}/a/log", container="one", previous="true", code=400)
    assert reply["message"] == 'previous terminated container "one" in pod "a" not found'
