"""`quintant up` as a program of its own, and a pod in it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

import patience
from node.node_fixture import INSPECTOR, PATIENCE_SECONDS, ask
from quintant import Config
from quintant.api.core import Pod
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.die_with_parent import die_with_parent
from quintant.runtime.cache.client import Client
from unit.cluster.api import PODS, JsonObject, Requests

UP = [sys.executable, "-m", "quintant", "up", "--listen", "127.0.0.1:0"]


@contextmanager
def up(
    folder: Path, *arguments: str, programs: Sequence[ImageProgram] = (INSPECTOR,)
) -> Iterator[subprocess.Popen[str]]:
    """A cluster as a program of its own, with its temporary files in a folder."""
    table = folder / "images.yaml"
    table.write_bytes(msgspec.json.encode({"images": programs}))
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


async def run_pod(kubeconfig: Path, *args: str) -> JsonObject:
    """A pod of the cluster, once it answers."""
    transport = HttpTransport(Config.load(kubeconfig))
    container = {"name": "main", "image": INSPECTOR.image, "args": list(args)}
    spec = {"nodeName": "local", "containers": [container]}
    requests = Requests(transport)
    await requests.create(PODS, {"metadata": {"name": "a"}, "spec": spec})
    client = Client(Rest(transport))
    await client.wait_for(
        Pod,
        "a",
        "default",
        until=lambda pod: bool(pod and pod.ready),
        timeout=patience.seconds(PATIENCE_SECONDS),
    )
    pod = await requests.get(f"{PODS}/a")
    await transport.close()
    async with patience.within(PATIENCE_SECONDS):
        while True:
            try:
                await ask(pod, "/readyz")
                return pod
            except OSError:
                await asyncio.sleep(0.02)
