"""Pods as real processes: they answer, print, restart, end, and leave nothing behind."""

from __future__ import annotations

import asyncio
import os

import patience
from node.node_fixture import (
    IMAGE,
    NodeCluster,
    alive,
    ask,
    children,
    ended,
    ready,
    restarted,
    tell,
    vanished,
)
from unit.cluster.api import PODS

CONFIGS = "/api/v1/namespaces/default/configmaps"


async def test_a_pod_answers_on_its_own_address(node: NodeCluster) -> None:
    one, two = await node.run("one"), await node.run("two")
    assert one["status"]["podIP"] != two["status"]["podIP"]
    assert '"hostname": "one"' in await ask(one, "/")
    assert '"hostname": "two"' in await ask(two, "/")


async def test_a_program_finds_its_files_variables_and_arguments(node: NodeCluster) -> None:
    await node.api.create(CONFIGS, {"metadata": {"name": "c"}, "data": {"k": "v"}})
    container = {
        "env": [
            {"name": "FILE", "value": "/etc/c/k"},
            {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        ],
        "volumeMounts": [{"name": "c", "mountPath": "/etc/c"}],
    }
    volumes = [{"name": "c", "configMap": {"name": "c"}}]
    pod = await node.run("a", "--say=$(FILE)", container=container, volumes=volumes)
    assert await ask(pod, "/read?path=/etc/c/k") == "v"
    assert await ask(pod, "/env?name=IP") == pod["status"]["podIP"]
    assert (await node.logs("a")).splitlines()[0] == await ask(pod, "/env?name=FILE")
    assert await ask(pod, "/env?name=KUBERNETES_SERVICE_PORT") == str(node.cluster.address.port)
    assert await ask(pod, "/env?name=USER") == "", "nothing of our own environment"


async def test_a_program_that_ends_is_restarted_with_its_last_words_kept(node: NodeCluster) -> None:
    pod = await node.run("a", "--say=first")
    await tell(pod, "/exit?code=3")
    pod = await node.until("a", restarted)
    last = pod["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert (last["exitCode"], last["reason"]) == (3, "Error")
    assert "ending with 3" in await node.logs("a", previous="true")


async def test_a_program_that_hangs_is_restarted(node: NodeCluster) -> None:
    probe = {
        "httpGet": {"path": "/healthz", "port": 8080},
        "periodSeconds": 1,
        "failureThreshold": 1,
        "initialDelaySeconds": 1,
    }
    spec = {"livenessProbe": probe}
    pod = await node.run("a", container=spec, terminationGracePeriodSeconds=1)
    hanging = asyncio.ensure_future(tell(pod, "/hang"))
    pod = await node.until("a", restarted)
    assert pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 137
    await asyncio.gather(hanging, return_exceptions=True)


async def test_all_output_is_there_when_a_program_has_ended(node: NodeCluster) -> None:
    lines = [f"--say=line {number}" for number in range(200)]
    container = {"name": "main", "image": IMAGE, "args": ["--once", *lines, "--complain=oops"]}
    await node.create("a", containers=[container], restartPolicy="Never")
    pod = await node.until("a", ended)
    assert pod["status"]["phase"] == "Succeeded"
    printed = (await node.logs("a")).splitlines()
    assert [line for line in printed if line != "oops"] == [f"line {at}" for at in range(200)]
    assert "oops" in printed


async def test_init_containers_leave_files_for_the_others(node: NodeCluster) -> None:
    mounts = [{"name": "shared", "mountPath": "/common"}]
    init = {
        "name": "init",
        "image": IMAGE,
        "args": ["--once", "--write=/common/word=hello"],
        "volumeMounts": mounts,
    }
    pod = await node.run(
        "a",
        container={"volumeMounts": mounts},
        initContainers=[init],
        volumes=[{"name": "shared", "emptyDir": {}}],
    )
    assert await ask(pod, "/read?path=/common/word") == "hello"


async def test_what_a_program_started_ends_with_it(node: NodeCluster) -> None:
    pod = await node.run("a")
    near, apart = int(await tell(pod, "/spawn")), int(await tell(pod, "/spawn?apart=yes"))
    assert alive(near)
    assert alive(apart)
    await node.api.delete(f"{PODS}/a")
    await node.gone("a")
    await vanished(near, apart)


async def test_who_ignores_sigterm_is_killed_with_its_children(node: NodeCluster) -> None:
    pod = await node.run("a", "--stubborn", terminationGracePeriodSeconds=1)
    child = int(await tell(pod, "/spawn"))
    await node.api.delete(f"{PODS}/a")
    await node.gone("a")
    await vanished(child)
    assert not children(os.getpid())


async def test_too_much_memory_ends_a_container(node: NodeCluster) -> None:
    limit = {"resources": {"limits": {"memory": "48Mi"}}}
    pod = await node.run("a", container=limit, restartPolicy="Never")
    await tell(pod, "/fill?mib=64")
    pod = await node.until("a", ended)
    state = pod["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (state["reason"], state["exitCode"]) == ("OOMKilled", 137)


async def test_a_pods_figures_are_measured(node: NodeCluster) -> None:
    await node.run("a")
    local = node.cluster.node
    assert local is not None
    meter = local.component.meter
    assert meter is not None
    async with patience.within(20):
        while not meter.pods(()):  # noqa: ASYNC110 - samples announce themselves to nobody
            await asyncio.sleep(0.1)
    (usage,) = meter.pods(()).values()
    assert 5_000_000 < usage.containers["main"].memory < 100_000_000
    (whole,) = meter.nodes((), ()).values()
    assert whole.usage.memory > usage.containers["main"].memory


async def test_a_program_uses_the_api_as_its_service_account(node: NodeCluster) -> None:
    volume, mount = await node.account("robot")
    container = {
        "name": "main",
        "image": "example/python",
        "args": ["-c", WHOAMI],
        "volumeMounts": [mount],
    }
    await node.create(
        "a",
        containers=[container],
        restartPolicy="Never",
        serviceAccountName="robot",
        volumes=[volume],
    )
    await node.until("a", ended)
    assert "system:serviceaccount:default:robot" in await node.logs("a")


WHOAMI = """
import asyncio
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest

async def main():
    transport = HttpTransport(Config.discover())
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    headers = {"content-type": "application/json"}
    print((await transport.request(ApiRequest("POST", path, {}, headers, b"{}"))).body.decode())
    await transport.close()

asyncio.run(main())
"""


async def test_a_ready_pod_keeps_its_address_over_restarts(node: NodeCluster) -> None:
    pod = await node.run("a")
    await tell(pod, "/exit?code=1")
    await node.until("a", restarted)
    again = await node.until("a", ready)
    assert again["status"]["podIP"] == pod["status"]["podIP"]


async def test_after_a_restore_those_processes_run_that_the_objects_say(node: NodeCluster) -> None:
    kept, gone = await node.run("kept"), await node.run("gone")
    before = set(children(os.getpid()))
    saved = await node.cluster.snapshots.save()
    await node.api.delete(f"{PODS}/gone", {"gracePeriodSeconds": 0})
    await node.gone("gone")
    await node.run("new")
    (new,) = set(children(os.getpid())) - before
    await node.cluster.snapshots.restore(saved)
    back = await node.until("gone", restarted)
    await vanished(new)
    assert back["metadata"]["uid"] == gone["metadata"]["uid"]
    assert '"hostname": "kept"' in await ask(kept, "/")
    assert sorted(await node.api.names(PODS)) == ["gone", "kept"]
    assert len(before & set(children(os.getpid()))) == 1, "what did not change runs on"
