"""The commands of docs/infra.md, typed as they stand there."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import patience
from envtest import RealCluster
from envtest.existing import kubectl
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress

pytestmark = pytest.mark.realtime

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "infra.md").read_text()
TIDY = "kubectl delete -f examples/infra/first.yaml"
READY_NODES = re.compile(r"^\S+ +Ready ", re.MULTILINE)


def typed(block: int) -> list[str]:
    """The commands of a block of the page."""
    found = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)[block]
    lines = [
        line[2:].partition("  #")[0].strip() for line in found.splitlines() if line[:2] == "$ "
    ]
    assert len(lines) >= 5
    return lines


def environment(folder: Path, **more: str) -> Mapping[str, str]:
    """What a shell needs to find our programs, kubectl, and nothing of this test's."""
    places = [str(Path(sys.executable).parent), str(Path(kubectl(os.environ)).parent)]
    path = os.pathsep.join([*places, os.environ["PATH"]])
    return {**os.environ, "PATH": path, "HOME": str(folder), "TMPDIR": str(folder), **more}


async def run_shell(script: str, where: Path, env: Mapping[str, str]) -> str:
    """What a script says; what it started in the background ends with it."""
    # Jobs get groups of their own, so that the clusters of the simulator end with it.
    whole = f"set -e -m\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n{script}\n"
    log = where / "said.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", whole, cwd=where, env=env, stdout=output, stderr=output
        )
    try:
        async with patience.within(120):
            await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    text = await asyncio.to_thread(log.read_text)
    assert process.returncode == 0, text
    return text


async def test_first_cluster_on_the_embedded_cluster_of_the_demo(tmp_path: Path) -> None:
    demo, *rest = typed(0)
    ready = "until grep -q Ctrl-C demo.log; do sleep 0.5; done"
    script = "\n".join([f"{demo} > demo.log 2>&1 &", ready, *rest])
    said = await run_shell(script, tmp_path, environment(tmp_path))
    assert re.search(r"^sample +ONLINE +laptop +2 ", said, re.MULTILINE), said
    assert "├── Infrastructure " in said
    assert len(READY_NODES.findall(said)) == 2, said


async def _five(kubeconfig: Path, folder: Path) -> None:
    (folder / "examples").symlink_to(ROOT / "examples")
    script = "\n".join([*typed(1), TIDY])
    env = environment(folder, KUBECONFIG=str(kubeconfig))
    said = await run_shell(script, folder, env)
    assert "cluster.infra.quintant.dev/first condition met" in said
    assert len(READY_NODES.findall(said)) == 2, said


async def test_first_cluster_in_five_commands_on_an_embedded_cluster(tmp_path: Path) -> None:
    config = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True)
    async with run_cluster(config) as cluster:
        kubeconfig = tmp_path / "kubeconfig"
        save_kubeconfig(cluster, kubeconfig)
        await _five(kubeconfig, tmp_path)


async def test_first_cluster_in_five_commands_on_kube_apiserver(
    real_cluster: RealCluster, tmp_path: Path
) -> None:
    await _five(real_cluster.kubeconfig, tmp_path)
