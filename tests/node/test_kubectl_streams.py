"""kubectl and the official Python client with pods that are processes: exec, cp, port-forward."""

from __future__ import annotations

import asyncio
import os
import pty
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from kubernetes import client as official
from kubernetes import config as official_config
from kubernetes.stream import portforward, stream

import patience
from conformance.kubectl import Kubectl, programs
from node.node_fixture import (
    IMAGE,
    PATIENCE_SECONDS,
    PORT,
    NodeCluster,
    answering,
    fetch,
    ready,
)
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.options import NodeOptions
from quintant.core.address import BindAddress
from unit.cluster.api import PODS

pytestmark = pytest.mark.realtime

PROGRAMS = programs()
SHELL = "example/shell"
needs_kubectl = pytest.mark.skipif(not PROGRAMS, reason="there is no kubectl")


@pytest_asyncio.fixture
async def node(tmp_path: Path) -> AsyncIterator[NodeCluster]:
    """A cluster with a pod `a` that has a shell, a volume at /data, and does nothing but run."""
    table = (ImageProgram(image=SHELL, command="*"),)
    config = ClusterConfig(BindAddress("127.0.0.1", 0), node=NodeOptions(table))
    async with run_cluster(config) as cluster, patience.within(6 * PATIENCE_SECONDS):
        save_kubeconfig(cluster, tmp_path / "kubeconfig")
        node = NodeCluster(cluster)
        container = {
            "name": "main",
            "image": SHELL,
            "command": ["sleep", "100000"],
            "volumeMounts": [{"name": "v", "mountPath": "/data"}],
        }
        volumes = [{"name": "v", "emptyDir": {}}]
        await node.create(
            "a", containers=[container], volumes=volumes, terminationGracePeriodSeconds=1
        )
        await node.until("a", ready)
        yield node


@pytest.fixture(params=PROGRAMS, ids=lambda path: path.parent.name)
def kubectl(request: pytest.FixtureRequest, tmp_path: Path) -> Kubectl:
    return Kubectl(request.param, tmp_path / "kubeconfig", tmp_path / "cache", "default")


@needs_kubectl
async def test_exec_prints_what_the_command_does_and_ends_as_it_did(
    node: NodeCluster, kubectl: Kubectl
) -> None:
    found = await kubectl.run("exec", "a", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (found.code, found.out) == (3, "out\n")
    assert found.err == "err\ncommand terminated with exit code 3\n"


@needs_kubectl
async def test_exec_with_input_ends_with_it(node: NodeCluster, kubectl: Kubectl) -> None:
    text = "line\n" * 50_000
    assert await kubectl("exec", "-i", "a", "--", "cat", given=text) == text


@needs_kubectl
async def test_exec_with_a_terminal_is_one(node: NodeCluster, kubectl: Kubectl) -> None:
    near, far = pty.openpty()
    environ = {**os.environ, "KUBECONFIG": str(kubectl.kubeconfig)}
    process = await asyncio.create_subprocess_exec(
        kubectl.program, "--cache-dir", kubectl.cache, "exec", "-it", "a", "--", "sh",
        env=environ, stdin=far, stdout=far, stderr=far,
    )  # fmt: skip
    os.close(far)
    os.write(near, b"test -t 0 && echo terminal-$((40 + 2)); exit 5\n")
    output = await asyncio.to_thread(read_all, near)
    assert "terminal-42" in output
    assert await process.wait() == 5


def read_all(near: int) -> str:
    """What a terminal shows until no program has it open."""
    shown = b""
    try:
        while data := os.read(near, 4096):
            shown += data
    except OSError:
        pass
    os.close(near)
    return shown.decode()


@needs_kubectl
async def test_cp_copies_files_and_folders_both_ways(
    node: NodeCluster, kubectl: Kubectl, tmp_path: Path
) -> None:
    folder = tmp_path / "there"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "big").write_bytes(os.urandom(1_000_000))
    (folder / "small").write_text("hello")
    await kubectl("cp", str(folder), "a:/data/copy")
    assert await kubectl("exec", "a", "--", "cat", "/data/copy/small") == "hello"
    await kubectl("cp", "a:/data/copy/sub/big", str(tmp_path / "big"))
    assert (tmp_path / "big").read_bytes() == (folder / "sub" / "big").read_bytes()
    await kubectl("cp", "a:/data", str(tmp_path / "back"))
    assert (tmp_path / "back" / "copy" / "small").read_text() == "hello"
    await kubectl.run("cp", str(folder / "small"), f"a:{tmp_path}/outside")
    assert not (tmp_path / "outside").exists()


@needs_kubectl
async def test_refusals_are_shown_in_the_servers_words(node: NodeCluster, kubectl: Kubectl) -> None:
    found = await kubectl.run("exec", "a", "-c", "nope", "--", "ls")
    assert found.code == 1
    assert "container nope is not valid for pod a" in found.err
    found = await kubectl.run("exec", "a", "--", "no-such-program")
    assert 'program "no-such-program" of image "example/shell" is not on this' in found.err


async def test_the_python_clients_stream_works(node: NodeCluster, tmp_path: Path) -> None:
    loaded = official_config.new_client_from_config(str(tmp_path / "kubeconfig"))
    core = official.CoreV1Api(loaded)

    def run() -> tuple[str, int]:
        command = ["sh", "-c", "read word; echo got $word; exit 7"]
        talk = stream(
            core.connect_get_namespaced_pod_exec, "a", "default", command=command,
            stdin=True, stdout=True, stderr=True, tty=False, _preload_content=False,
        )  # fmt: skip
        talk.write_stdin("this\n")
        talk.run_forever(timeout=PATIENCE_SECONDS)
        shown = talk.read_stdout(), talk.returncode
        talk.sock.shutdown()  # it leaves its socket open
        return shown

    assert await asyncio.to_thread(run) == ("got this\n", 7)
    loaded.close()


async def test_the_python_clients_portforward_works(node: NodeCluster, tmp_path: Path) -> None:
    await served(node)
    loaded = official_config.new_client_from_config(str(tmp_path / "kubeconfig"))
    core = official.CoreV1Api(loaded)

    def run() -> tuple[bytes, str | None]:
        forwarded = portforward(
            core.connect_get_namespaced_pod_portforward, "web", "default", ports=f"{PORT},1"
        )
        talk = forwarded.socket(PORT)
        talk.settimeout(PATIENCE_SECONDS)
        talk.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        shown = b""
        while data := talk.recv(4096):
            shown += data
        refused = forwarded.error(1)
        close(forwarded)
        return shown, refused

    shown, error = await asyncio.to_thread(run)
    assert b'"hostname": "web"' in shown
    assert "error forwarding port 1 to pod web" in (error or "")
    loaded.close()


def close(forwarded: Any) -> None:
    """The official client ends its thread when all ports are closed, and leaves sockets open."""
    forwarded.close()
    for thread in threading.enumerate():
        if thread.name.startswith("Kubernetes port forward proxy"):
            thread.join(PATIENCE_SECONDS)
    for port in forwarded.local_ports.values():
        port.python.close()
    forwarded.websocket.shutdown()


OLDER = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false", "KUBECTL_PORT_FORWARD_WEBSOCKETS": "false"}
"""Has kubectl speak SPDY, as older ones do."""


@needs_kubectl
async def test_older_clients_have_sessions_over_spdy(
    node: NodeCluster, kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in OLDER.items():
        monkeypatch.setenv(name, value)
    command = ("sh", "-c", "cat; echo err >&2; exit 3")
    found = await kubectl.run("exec", "-i", "a", "--", *command, given="line\n" * 50_000)
    assert (found.code, found.out) == (3, "line\n" * 50_000)
    assert found.err == "err\ncommand terminated with exit code 3\n"
    found = await kubectl.run("exec", "a", "-c", "nope", "--", "ls")
    assert "container nope is not valid for pod a" in found.err


@needs_kubectl
@pytest.mark.parametrize("older", [False, True], ids=["websocket", "spdy"])
async def test_ports_are_forwarded(
    node: NodeCluster, kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch, older: bool
) -> None:
    for name, value in OLDER.items() if older else ():
        monkeypatch.setenv(name, value)
    await node.create("web", containers=[{"name": "main", "image": IMAGE}])
    await answering(await node.until("web", ready))
    process = await kubectl.start("port-forward", "pod/web", f":{PORT}")
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    port = int(line.removeprefix("Forwarding from 127.0.0.1:").split()[0])
    answers = await asyncio.gather(*(fetch("127.0.0.1", port, "/") for _ in range(20)))
    assert all(status == 200 and '"hostname": "web"' in body for status, body in answers)
    process.kill()
    await process.communicate()


async def served(node: NodeCluster) -> None:
    """A pod `web` that answers, and a Service of that name."""
    container = {"name": "main", "image": IMAGE, "ports": [{"containerPort": PORT}]}
    made = {"metadata": {"name": "web", "labels": {"app": "web"}}}
    pod = {**made, "spec": {"nodeName": "local", "containers": [container]}}
    await node.api.create(PODS, pod)
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": PORT}]}
    services = "/api/v1/namespaces/default/services"
    await node.api.create(services, {"metadata": {"name": "web"}, "spec": spec})
    running = await node.until("web", ready)
    await answering(running)
    target = {"kind": "Pod", "name": "web", "namespace": "default"}
    addresses = [{"ip": running["status"]["podIP"], "targetRef": target}]
    subsets = [{"addresses": addresses, "ports": [{"port": PORT}]}]
    endpoints = services.replace("services", "endpoints")
    await node.api.create(endpoints, {"metadata": {"name": "web"}, "subsets": subsets})


PROXIED = (
    "/api/v1/namespaces/default/pods/web/proxy/",
    f"/api/v1/namespaces/default/pods/http:web:{PORT}/proxy/",
    "/api/v1/namespaces/default/services/web/proxy/",
    "/api/v1/namespaces/default/services/web:80/proxy/",
)


@needs_kubectl
async def test_pods_and_services_are_reached_through_the_server(
    node: NodeCluster, kubectl: Kubectl
) -> None:
    await served(node)
    for path in PROXIED:
        assert '"hostname": "web"' in await kubectl("get", "--raw", path)
    assert await kubectl("get", "--raw", "/api/v1/nodes/local/proxy/healthz") == "ok"
    pods = await kubectl("get", "--raw", "/api/v1/nodes/local/proxy/pods")
    assert '"name":"web"' in pods
    found = await kubectl.run("get", "--raw", PROXIED[1].replace(str(PORT), "1"))
    assert "error trying to reach service: dial tcp 127." in found.err
    assert ":1: connect: connection refused" in found.err


@needs_kubectl
async def test_kubectl_proxy_leads_to_pods_and_services(
    node: NodeCluster, kubectl: Kubectl
) -> None:
    await served(node)
    process = await kubectl.start("proxy", "--port=0")
    assert process.stdout is not None
    port = int((await process.stdout.readline()).decode().rpartition(":")[2])
    for path in PROXIED:
        code, body = await fetch("127.0.0.1", port, path)
        assert (code, '"hostname": "web"' in body) == (200, True)
    code, body = await fetch("127.0.0.1", port, f"{PROXIED[2]}exit?code=3", method="POST")
    assert code == 200
    process.kill()
    await process.communicate()


async def test_the_python_client_reaches_a_service(node: NodeCluster, tmp_path: Path) -> None:
    await served(node)
    loaded = official_config.new_client_from_config(str(tmp_path / "kubeconfig"))
    core = official.CoreV1Api(loaded)
    for ask in (
        lambda: core.connect_get_namespaced_service_proxy_with_path("web:80", "default", "healthz"),
        lambda: core.connect_get_namespaced_pod_proxy_with_path("web", "default", "healthz"),
    ):
        assert "ok" in await asyncio.to_thread(ask)
    loaded.close()


@needs_kubectl
async def test_attach_shows_what_a_container_prints_until_it_ends(
    node: NodeCluster, kubectl: Kubectl
) -> None:
    script = "while sleep 0.1; do echo tick; test -e $QUINTANT_ROOT/tmp/end && exit; done"
    container = {"name": "main", "image": SHELL, "command": ["sh", "-c", script]}
    await node.create("b", containers=[container], restartPolicy="Never")
    await node.until("b", ready)
    process = await kubectl.start("attach", "b")
    assert process.stdout is not None
    assert await process.stdout.readline() == b"tick\n"
    # It may end with the container whose end it is.
    await kubectl.run("exec", "b", "--", "touch", "/tmp/end")
    await process.communicate()
    assert process.returncode == 0
