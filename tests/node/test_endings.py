"""However a cluster ends, nothing of its pods runs on, and nothing of them is left on disk."""

from __future__ import annotations

import asyncio
import shutil
import signal
from base64 import b64decode
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

import patience
from node.node_fixture import INSPECTOR, PATIENCE_SECONDS, alive, children, tell, vanished
from node.up_program import run_pod, up
from quintant import Config
from quintant.api.core import Pod
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.runtime.cache.client import Client
from testbeds.exec_client import exec_client


def left(folder: Path) -> list[Path]:
    """What agents left in a folder."""
    return list(folder.glob("quintant-*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_cluster_that_is_asked_to_end_takes_its_pods_with_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    with up(tmp_path) as process:
        pod = await run_pod(tmp_path / "kubeconfig")
        apart = int(await tell(pod, "/spawn?apart=yes"))
        pids = [*children(process.pid), apart]
        assert len(pids) > 1
        process.send_signal(number)
        assert await asyncio.to_thread(process.wait, patience.seconds(PATIENCE_SECONDS)) == 0
    assert not any(map(alive, pids))
    assert not left(tmp_path)


async def test_stubborn_pods_do_not_hold_a_cluster_that_ends(tmp_path: Path) -> None:
    with up(tmp_path) as process:
        await run_pod(tmp_path / "kubeconfig", "--stubborn")
        pids = children(process.pid)
        process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(process.wait, patience.seconds(PATIENCE_SECONDS)) == 0
    assert not any(map(alive, pids))


async def test_a_cluster_that_is_killed_takes_its_programs_and_the_next_one_the_rest(
    tmp_path: Path,
) -> None:
    with up(tmp_path) as process:
        pod = await run_pod(tmp_path / "kubeconfig")
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
        await asyncio.to_thread(process.wait, patience.seconds(PATIENCE_SECONDS))
    assert not left(tmp_path)


async def test_pods_go_on_where_a_kept_cluster_was_killed(tmp_path: Path) -> None:
    kept = ("--data-dir", str(tmp_path / "data"))
    with up(tmp_path, *kept) as process:
        before = await run_pod(tmp_path / "kubeconfig")
        process.kill()
        await asyncio.to_thread(process.wait)
    with up(tmp_path, *kept):
        transport = HttpTransport(Config.load(tmp_path / "kubeconfig"))
        client = Client(Rest(transport))

        def restarted(pod: Pod | None) -> bool:
            statuses = pod.status.container_statuses if pod else ()
            return any(each.restart_count == 1 and each.state.running for each in statuses)

        pod = await client.wait_for(
            Pod, "a", "default", until=restarted, timeout=patience.seconds(PATIENCE_SECONDS)
        )
        await transport.close()
    assert pod is not None
    # Its network may be another cluster's by now, and this cluster then has another one.
    assert pod.status.pod_ip.split(".")[2:] == before["status"]["podIP"].split(".")[2:]
    assert pod.status.container_statuses[0].last_state.terminated is not None
    shutil.rmtree(tmp_path / "data")


async def test_a_cluster_that_is_killed_takes_the_commands_of_clients_with_it(
    tmp_path: Path,
) -> None:
    shell = ImageProgram(image=INSPECTOR.image, command="*")
    with up(tmp_path, programs=(INSPECTOR, shell)) as process:
        await run_pod(tmp_path / "kubeconfig")
        kubeconfig = msgspec.json.decode((tmp_path / "kubeconfig").read_bytes())
        entry = kubeconfig["clusters"][0]["cluster"]
        authority = b64decode(entry["certificate-authority-data"]).decode()
        certificate = tmp_path / "client.pem"
        user = kubeconfig["users"][0]["user"]
        parts = (user["client-certificate-data"], user["client-key-data"])
        certificate.write_bytes(b"".join(map(b64decode, parts)))
        command = ("sh", "-c", "echo $$; exec sleep 100000")
        pids = []
        async with AsyncExitStack() as stack:
            for tty in (False, True):
                opened = exec_client(
                    entry["server"], authority, "", "a", command, tty=tty, certificate=certificate
                )
                client = await stack.enter_async_context(opened)
                pids.append(int(await client.until(b"\n")))
            process.kill()
            await vanished(*pids)
