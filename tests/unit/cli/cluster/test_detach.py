"""Clusters in the background: `quintant up --detach`, `clusters` and `down`, as programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from quintant import Config
from quintant.cli import main
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.records import ClusterRecords
from quintant.core import yaml
from unit.cluster.api import Requests


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A runtime folder of the test's own; whatever runs in it at the end is ended."""
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    yield environ
    records = ClusterRecords(environ)
    for cluster in records.list():
        records.signal(cluster.name, signal.SIGKILL)


def quintant(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quintant", *arguments],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def clusters(environ: dict[str, str]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(quintant(environ, "clusters", "-ojson").stdout)
    return found


@pytest.mark.realtime
async def test_a_cluster_lives_in_the_background_until_it_is_stopped(
    environ: dict[str, str], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    arguments = ("--nodes=1", "--no-node", f"--data-dir={data}")
    ran = quintant(environ, "up", "--detach", *arguments)
    assert ran.stdout == f"export KUBECONFIG={data}/kubeconfig\n"
    transport = HttpTransport(Config.load(f"{data}/kubeconfig"))
    requests = Requests(transport)
    assert await requests.names("/api/v1/nodes") == ["sim-0001"]
    assert "default" in await requests.names("/api/v1/namespaces/default/serviceaccounts")
    await transport.close()
    (listed,) = clusters(environ)
    assert (listed["name"], listed["status"]) == ("default", "running")
    assert int(str(listed["memoryBytes"])) > 10_000_000
    again = quintant(environ, "up", "--detach", *arguments)
    assert again.stderr.splitlines()[:2] == [
        "cannot start the cluster 'default'",
        "because: there is one of this name already",
    ]
    assert quintant(environ, "down").stdout == f"stopped default; its objects stay in {data}\n"
    assert clusters(environ) == []


def test_a_killed_cluster_is_said_to_have_ended_and_its_name_is_free(
    environ: dict[str, str],
) -> None:
    arguments = ("up", "--detach", "--api-only", "--name=dev", "--listen=127.0.0.1:0")
    assert quintant(environ, *arguments).returncode == 0
    os.kill(int(str(clusters(environ)[0]["pid"])), signal.SIGKILL)
    ClusterRecords(environ).wait_ended("dev", 60, lambda: None)
    assert clusters(environ) == [{"name": "dev", "status": "ended"}]
    assert quintant(environ, *arguments).returncode == 0
    assert [each["status"] for each in clusters(environ)] == ["running"]
    assert quintant(environ, "down", "--all").stdout == "stopped dev\n"


def test_a_start_that_fails_says_what_the_process_said(environ: dict[str, str]) -> None:
    ran = quintant(environ, "up", "--detach", "--stages=/nowhere/stages.yaml", "--api-only")
    assert ran.returncode == 1
    assert "/nowhere/stages.yaml" in ran.stderr


def test_stopping_what_is_not_there_is_explained(environ: dict[str, str]) -> None:
    ran = CliRunner(env=environ).invoke(main, ["down", "nothing"])
    assert ran.exit_code == 1
    assert ran.stderr.splitlines() == [
        "there is no cluster 'nothing'",
        "because: none was started with a name",
        "try: quintant clusters",
    ]
    assert CliRunner(env=environ).invoke(main, ["down", "a", "--all"]).exit_code == 2
    assert CliRunner(env=environ).invoke(main, ["down", "--timeout=soon"]).exit_code == 2


def test_the_steps_of_the_documented_workflow_run(environ: dict[str, str], tmp_path: Path) -> None:
    page = Path(__file__).parents[4] / "docs/embedded-server.md"
    block = page.read_text().partition("In a GitHub workflow:\n\n```yaml\n")[2].partition("```")[0]
    install, start, kubectl, stop = [step["run"] for step in yaml.load(block)]
    assert (install, kubectl) == ("pip install 'quintant[cluster]'", "kubectl get nodes")
    variables = tmp_path / "variables"
    path = f"{Path(sys.executable).parent}:{environ['PATH']}"
    shell = {**environ, "GITHUB_ENV": str(variables), "PATH": path}
    subprocess.run(["bash", "-euo", "pipefail", "-c", start], env=shell, check=True)
    name, _, kubeconfig = variables.read_text().strip().partition("=")
    assert (name, Path(kubeconfig).is_file()) == ("KUBECONFIG", True)
    subprocess.run(["bash", "-euo", "pipefail", "-c", stop], env=shell, check=True)
    assert not Path(kubeconfig).exists()
