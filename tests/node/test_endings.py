"""However a cluster ends, nothing of its pods runs on, and nothing of them is left on disk."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from node.node_fixture import INSPECTOR, PATIENCE_SECONDS, alive, ask, children, tell, vanished
from quintant import Config
from quintant.api.core import Pod
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.cluster.kubelet.process.die_with_parent import die_with_parent
from quintant.runtime.cache.client import Client
from unit.cluster.api import PODS, JsonObject, Requests

UP = [sys.executable, "-m", "quintant", "up", "--listen", "127.0.0.1:0"]


@contextmanager
def up(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A cluster as a program of its own, with its temporary files in a folder."""
    table = folder / "images.yaml"
    table.write_bytes(msgspec.json.encode({"images": [INSPECTOR]}))
    files = ["--kubeconfig", str(folder / "kubeconfig"), "--images", str(table)]
    command = die_with_parent([*UP, *files, *arguments])
    environ = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(
        command, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("export KUBECONFIG=")
            yield process
        finally:
            process.kill()


async def run(folder: Path, *args: str) -> JsonObject:
    """A pod of the cluster, once it answers."""
    transport = HttpTransport(Config.load(folder / "kubeconfig"))
    container = {"name": "main", "image": INSPECTOR.image, "args": list(args)}
    spec = {"nodeName": "local", "containers": [container]}
    requests = Requests(transport)
    await requests.create(PODS, {"metadata": {"name": "a"}, "spec": spec})
    client = Client(Rest(transport))
    await client.wait_for(
        Pod, "a", "default", until=lambda pod: bool(pod and pod.ready), timeout=PATIENCE_SECONDS
    )
    pod = await requests.get(f"{PODS}/a")
    await transport.close()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                await ask(pod, "/readyz")
                return pod
            except OSError:
                await asyncio.sleep(0.02)


def left(folder: Path) -> list[Path]:
    """What agents left in a folder."""
    return list(folder.glob("quintant-*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_cluster_that_is_asked_to_end_takes_its_pods_with_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    with up(tmp_path) as process:
        pod = await run(tmp_path)
        apart = int(await tell(pod, "/spawn?apart=yes"))
        pids = [*children(process.pid), apart]
        assert len(pids) > 1
        process.send_signal(number)
        assert await asyncio.to_thread(process.wait, PATIENCE_SECONDS) == 0
    assert not any(map(alive, pids))
    assert not left(tmp_path)


async def test_stubborn_pods_do_not_hold_a_cluster_that_ends(tmp_path: Path) -> None:
    with up(tmp_path) as process:
        await run(tmp_path, "--stubborn")
        pids = children(process.pid)
        process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(process.wait, PATIENCE_SECONDS) == 0
    assert not any(map(alive, pids))


async def test_a_cluster_that_is_killed_takes_its_programs_and_the_next_one_the_rest(
    tmp_path: Path,
) -> None:
    with up(tmp_path) as process:
        pod = await run(tmp_path)
        program = children(process.pid)
        apart = int(await tell(pod, "/spawn?apart=yes"))
        process.kill()
        await asyncio.to_thread(process.wait)
        await vanished(*program)
    assert alive(apart), "the kernel ends the program, not what it started"
    assert left(tmp_path)
    with up(tmp_path) as process:
        await vanished(apart)
        process.send_signal(signal.SIGINT)
        await asyncio.to_thread(process.wait, PATIENCE_SECONDS)
    assert not left(tmp_path)


async def test_pods_go_on_where_a_kept_cluster_was_killed(tmp_path: Path) -> None:
    kept = ("--data-dir", str(tmp_path / "data"))
    with up(tmp_path, *kept) as process:
        before = await run(tmp_path)
        process.kill()
        await asyncio.to_thread(process.wait)
    with up(tmp_path, *kept):
        transport = HttpTransport(Config.load(tmp_path / "kubeconfig"))
        client = Client(Rest(transport))

        def restarted(pod: Pod | None) -> bool:
            statuses = pod.status.container_statuses if pod else ()
            return any(each.restart_count == 1 and each.state.running for each in statuses)

        pod = await client.wait_for(Pod, "a", "default", until=restarted, timeout=PATIENCE_SECONDS)
        await transport.close()
    assert pod is not None
    assert pod.status.pod_ip == before["status"]["podIP"]
    assert pod.status.container_statuses[0].last_state.terminated is not None
    shutil.rmtree(tmp_path / "data")
