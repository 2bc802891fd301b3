"""pods/exec: a command beside a container, with its streams, its terminal and its end."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import pytest_asyncio
from websockets.exceptions import InvalidStatus

import patience
from node.node_fixture import PATIENCE_SECONDS, NodeCluster, ended, marked, ready, vanished
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.options import NodeOptions
from quintant.core.address import BindAddress
from testbeds.exec_client import STDERR, STDOUT, V4, V5, ExecClient, exec_client
from unit.cluster.api import PODS, JsonObject

pytestmark = pytest.mark.realtime

SHELL = "example/shell"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"


@pytest_asyncio.fixture
async def node() -> AsyncIterator[NodeCluster]:
    """A cluster whose image table has a shell, and two commands of another image."""
    table = (
        ImageProgram(image=SHELL, command="*"),
        ImageProgram(image="example/narrow", command="sleep"),
        ImageProgram(image="example/narrow", command="cat"),
    )
    config = ClusterConfig(BindAddress("127.0.0.1", 0), node=NodeOptions(table))
    async with run_cluster(config) as cluster, patience.within(6 * PATIENCE_SECONDS):
        yield NodeCluster(cluster)


async def running(node: NodeCluster, name: str = "a", image: str = SHELL) -> JsonObject:
    """A pod that does nothing but run, with a volume at /data."""
    container = {
        "name": "main",
        "image": image,
        "command": ["sleep", "100000"],
        "env": [{"name": "FOO", "value": "bar"}],
        "volumeMounts": [{"name": "v", "mountPath": "/data"}],
    }
    volumes = [{"name": "v", "emptyDir": {}}]
    await node.create(
        name, containers=[container], volumes=volumes, terminationGracePeriodSeconds=1
    )
    return await node.until(name, ready)


def session(
    node: NodeCluster,
    *command: str,
    protocol: str = V5,
    token: str = "root",
    pod: str = "a",
    **options: bool | str,
) -> AbstractAsyncContextManager[ExecClient]:
    """A session with a pod."""
    cluster = node.cluster
    return exec_client(
        cluster.url, node.authority(), token, pod, command, protocol, None, **options
    )


async def refusal(node: NodeCluster, *command: str, **more: str) -> str:
    """The answer to who asks for a session that there cannot be."""
    with pytest.raises(InvalidStatus) as refused:
        async with session(node, *command, **more):
            pass
    response = refused.value.response
    return f"{response.status_code} {bytes(response.body or b'').decode().strip()}"


@pytest.mark.parametrize("protocol", [V5, V4])
async def test_a_command_runs_with_the_containers_variables_and_tells_its_exit_code(
    node: NodeCluster, protocol: str
) -> None:
    await running(node)
    script = "echo $FOO $HOSTNAME; echo oops >&2; exit 3"
    async with session(node, "sh", "-c", script, protocol=protocol) as client:
        status = await client.rest()
    assert client.came[STDOUT] == b"bar a\n"
    assert client.came[STDERR] == b"oops\n"
    assert (status["status"], status["reason"]) == ("Failure", "NonZeroExitCode")
    assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]


async def test_a_command_that_is_killed_ends_with_the_code_that_shells_have_for_it(
    node: NodeCluster,
) -> None:
    await running(node)
    async with session(node, "sh", "-c", "kill -9 $$") as client:
        assert (await client.rest())["details"]["causes"][0]["message"] == "137"


async def test_input_goes_to_the_command_until_the_client_ends_it(node: NodeCluster) -> None:
    await running(node)
    async with session(node, "cat", stdin=True) as client:
        await client.say(b"first ")
        await client.until(b"first ")
        await client.say(b"x" * 300_000)
        await client.end_input()
        assert (await client.rest())["status"] == "Success"
    assert client.came[STDOUT] == b"first " + b"x" * 300_000


async def test_a_terminal_has_the_size_of_the_clients(node: NodeCluster) -> None:
    await running(node)
    async with session(node, "sh", stdin=True, tty=True) as client:
        await client.resize(99, 33)
        await client.say(b"stty size; test -t 1 && echo $TERM\n")
        assert b"33 99\r\nxterm\r\n" in await client.until(b"xterm\r\n")
        await client.resize(120, 40)
        await client.say(b"stty size; exit 4\n")
        status = await client.rest()
    assert b"40 120\r\n" in client.came[STDOUT]
    assert status["details"]["causes"][0]["message"] == "4"


async def test_a_path_of_a_command_is_one_of_the_pod(node: NodeCluster, tmp_path: Path) -> None:
    await running(node)
    outside = tmp_path / "secret"
    outside.write_text("secret")
    async with session(node, "sh", "-c", "echo inside > data/f; ln -s / out") as client:
        assert (await client.rest())["status"] == "Success"
    async with session(node, "cat", "/data/../data/f") as client:
        await client.rest()
    assert client.came[STDOUT] == b"inside\n"
    up = "../" * 40
    for word in (str(outside), f"{up}{outside}", f"/data/{up}{outside}", f"/out{outside}"):
        async with session(node, "cat", word) as client:
            assert (await client.rest())["status"] == "Failure"
        assert b"secret" not in client.came.get(STDOUT, b"")


async def test_a_command_that_the_image_table_lacks_is_not_run(node: NodeCluster) -> None:
    await running(node, image="example/narrow")
    async with session(node, "sh", "-c", "true") as client:
        status = await client.rest()
    assert (status["reason"], status["code"]) == ("InternalError", 500)
    assert 'no command "sh" for image "example/narrow"' in status["message"]


async def pid_of(client: ExecClient) -> int:
    first, _, _ = (await client.until(b"\n")).partition(b"\n")
    return int(first)


def waits(pid: int) -> bool:
    """Whether a process sleeps, for a full pipe that is."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


ENDLESS = ("sh", "-c", "echo $$; exec sleep 100000")
FAMILY = "setsid sh -c 'echo $$; exec sleep 100000' & echo $$; wait"
"""A command, and one in a session of its own that it started."""


async def test_a_client_that_leaves_takes_the_command_with_it(node: NodeCluster) -> None:
    await running(node)
    async with session(node, *ENDLESS) as client:
        pid = await pid_of(client)
        client.socket.transport.abort()
        await vanished(pid)


async def test_a_client_that_leaves_takes_along_what_its_command_started(node: NodeCluster) -> None:
    await running(node)
    async with session(node, "sh", "-c", FAMILY) as client:
        while client.came.get(STDOUT, b"").count(b"\n") < 2:
            assert await client.hear()
        client.socket.transport.abort()
        await vanished(*map(int, client.came[STDOUT].split()))


async def test_a_client_that_does_not_read_is_left_with_a_command_that_waits(
    node: NodeCluster,
) -> None:
    await running(node)
    async with session(node, "sh", "-c", "echo $$; exec yes") as client:
        pid = await pid_of(client)
        async with patience.within(PATIENCE_SECONDS):
            while not waits(pid):  # noqa: ASYNC110 - nobody tells when a program waits
                await asyncio.sleep(0.02)
        assert (await node.api.get(f"{PODS}/a"))["status"]["phase"] == "Running"
        client.socket.transport.abort()
        await vanished(pid)


async def test_a_session_ends_with_its_container_and_all_that_it_started(
    node: NodeCluster,
) -> None:
    await running(node)
    async with session(node, "sh", "-c", FAMILY) as client:
        while client.came.get(STDOUT, b"").count(b"\n") < 2:
            assert await client.hear()
        await node.api.delete(f"{PODS}/a")
        status = await client.rest()
    assert status["details"]["causes"][0]["message"] == "137"
    await vanished(*map(int, client.came[STDOUT].split()))


async def test_a_container_that_does_not_run_is_not_found(node: NodeCluster) -> None:
    container = {"name": "main", "image": SHELL, "command": ["true"]}
    await node.create("a", containers=[container], restartPolicy="Never")
    await node.until("a", ended)
    assert await refusal(node, "ls") == '500 container not found ("main")'


async def test_who_may_only_get_sessions_may_not_run_anything(node: NodeCluster) -> None:
    await running(node)
    node.cluster.server.tokens.add("reader", User("reader"))
    rule = {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get"]}
    await node.api.create(f"{ROLES}/roles", {"metadata": {"name": "r"}, "rules": [rule]})
    subject = {"kind": "User", "name": "reader"}
    bound = {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [subject]}
    await node.api.create(f"{ROLES}/rolebindings", {"metadata": {"name": "r"}, **bound})
    answer = await refusal(node, "ls", token="reader")
    assert answer.startswith("403")
    assert 'cannot create resource "pods/exec"' in answer.replace("\\", "")
    rule["verbs"].append("create")
    await node.api.put(f"{ROLES}/roles/r", {"metadata": {"name": "r"}, "rules": [rule]})
    async with session(node, "true", token="reader") as client:
        assert (await client.rest())["status"] == "Success"
    latest = node.cluster.server.audit.by("reader")
    assert [(each.verb, each.resource, each.code) for each in latest] == [
        ("get", "pods/exec", 403),
        ("get", "pods/exec", 101),
    ]


async def test_a_probe_that_takes_too_long_is_ended_with_all_that_it_started(
    node: NodeCluster,
) -> None:
    """Who left its session is found by its mark, while the container goes on."""
    mark = f"PROBE_OF_A_TEST={os.getpid()}"
    command = f"export {mark}; setsid sleep 300 & exec sleep 300"
    probe = {"exec": {"command": ["sh", "-c", command]}, "periodSeconds": 3600}
    main = {"name": "main", "image": SHELL, "command": ["sleep", "300"], "readinessProbe": probe}
    async with node.api.watch("/api/v1/namespaces/default/events") as events:
        await node.create("a", containers=[main], terminationGracePeriodSeconds=1)
        while "timed out" not in (await events.next(math.inf))["object"]["message"]:
            pass
    # Killed is not gone: on a busy machine that takes a moment.
    await vanished(*marked(mark))
    assert not marked(mark)
