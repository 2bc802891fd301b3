"""The simulator of Infrastructure Manager as a program: it makes clusters that run pods."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import psutil
import pytest

import patience
from quintant import Client, Config
from quintant.api.core import Node, Pod
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.die_with_parent import die_with_parent
from testbeds.infrastructures import Infrastructures, dummy_record, dummy_template, eventually

AGENT = (sys.executable, "-m", "quintant", "agent", "imsimulator", "--port", "0")
QUICK = ("--launch-seconds", "0.5")
WITHIN_SECONDS = 20.0


@contextmanager
def simulator(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The program, and where it serves."""
    command = die_with_parent((*AGENT, *QUICK, "--folder", str(folder)))
    with subprocess.Popen(command, text=True, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            said = json.loads(process.stderr.readline())
            assert said["simulator"]
            yield said["url"], process
        finally:
            process.terminate()
            process.stderr.read()


@asynccontextmanager
async def client_of(kubeconfig: str, folder: Path) -> AsyncIterator[Client]:
    """A client of a made cluster."""
    (folder / "made").write_text(kubeconfig)
    transport = HttpTransport(Config.load(folder / "made"))
    try:
        yield Client(Rest(transport), manager="tests")
    finally:
        await transport.close()


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


async def test_made_cluster_runs_pods_is_scaled_and_leaves_nothing(tmp_path: Path) -> None:
    with simulator(tmp_path) as (url, process):
        async with Infrastructures.at(url, dummy_record()) as found:
            id = await found.create(dummy_template("ignored", workers=1))
            assert (await found.until(id, "pending", "running")).state in ("pending", "running")
            assert (await found.delete(id)).status == 409
            await found.until(id, "configured")
            kubeconfig = (await found.outputs(id))["kubeconfig"]
            async with client_of(kubeconfig, tmp_path) as client:
                assert {node.metadata.name for node in await client.list(Node, live=True)} == {
                    "local",
                    "worker-1",
                }
                await _runs(client, "worker-1")
                assert (await found.update(id, dummy_template("", workers=2))).status == 200
                nodes = await client.list(Node, live=True)
                assert len(nodes) == 3
                assert (await found.update(id, dummy_template("", workers=0))).status == 200
                assert len(await client.list(Node, live=True)) == 1
            began = children(process)
            assert began
            await found.destroy(id)
            assert await found.ids() == []
        psutil.wait_procs(began, timeout=patience.seconds(WITHIN_SECONDS))
        assert children(process) == []
        assert os.listdir(tmp_path) == ["made"]


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
async def test_made_clusters_end_with_the_program(tmp_path: Path, end: signal.Signals) -> None:
    with simulator(tmp_path) as (url, process):
        async with Infrastructures.at(url, dummy_record()) as found:
            id = await found.create(dummy_template("", workers=0))
            await found.until(id, "configured")
        made = children(process)
        assert made
        os.kill(process.pid, end)
        _, left = psutil.wait_procs(made, timeout=patience.seconds(WITHIN_SECONDS))
        assert left == []


async def test_nobody_sees_the_infrastructures_of_others(tmp_path: Path) -> None:
    with simulator(tmp_path) as (url, _):
        async with (
            Infrastructures.at(url, dummy_record()) as mine,
            Infrastructures.at(url, dummy_record(), user="other") as others,
        ):
            id = await mine.create(dummy_template("", workers=0))
            assert await others.ids() == []
            assert (await others.ask("GET", f"/infrastructures/{id}/state")).status == 403
            assert (await mine.ask("GET", "/infrastructures/absent/state")).status == 404
            assert (await mine.dry_run("not: tosca")).status == 400
            estimate = (await mine.dry_run(dummy_template("", workers=3))).json
            assert len(estimate["dummy"]["compute"]) == 4
            await mine.destroy(id)


async def _runs(client: Client, node: str) -> None:
    """Wait until a pod runs on a node of a made cluster, as a process."""
    path = "/api/v1/namespaces/default/pods"
    container = {"name": "web", "image": "quintant/echo", "args": ["--port", "8080"]}
    spec = {"nodeName": node, "containers": [container]}
    body = {"metadata": {"name": "web"}, "spec": spec}
    await client.raw("POST", path, body=json.dumps(body).encode())

    async def ready() -> bool:
        pod = await client.find(Pod, "web", "default", live=True)
        return pod is not None and pod.ready

    await eventually(ready)
