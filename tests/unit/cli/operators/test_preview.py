"""`quintant preview`: what a file, or one of our operators, would do to a real address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from quintant.cli import main
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.runtime.manager.install_crds import install_crds
from scenarios.greeter import Greeter
from unit.cluster.api import Requests

ROOT = Path(__file__).parents[4]
GREETER = ROOT / "examples/01_greeter.py"
GREETERS = "/apis/demo.dev/v1/namespaces/default/greeters"


def preview(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["preview", *map(str, arguments)])


@pytest.fixture
def louder(tmp_path: Path) -> Path:
    """The greeter, in a version that says it louder."""
    text = GREETER.read_text()
    assert text.count("greeter.spec.message}") == 1
    path = tmp_path / "louder.py"
    path.write_text(text.replace("greeter.spec.message}", "greeter.spec.message.upper()}"))
    return path


async def with_greeters(tmp_path: Path, work: Callable[[Path], Result]) -> Result:
    """Run a command beside a cluster that has two greeters."""
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        kubeconfig = tmp_path / "kubeconfig"
        save_kubeconfig(cluster, kubeconfig)
        transport = HttpTransport(Config.load(kubeconfig))
        await install_crds(transport, [Greeter])
        for name in ("a", "b"):
            obj = {"metadata": {"name": name}, "spec": {"message": "hi"}}
            api = {"apiVersion": "demo.dev/v1", "kind": "Greeter"}
            await Requests(transport).create(GREETERS, {**api, **obj})
        await transport.close()
        return await asyncio.to_thread(work, kubeconfig)


@pytest.mark.realtime
async def test_a_file_is_previewed_and_ends_with_1_for_what_must_not_be(tmp_path: Path) -> None:
    def work(kubeconfig: Path) -> Result:
        return preview(GREETER, "--kubeconfig", kubeconfig, "--fail-on", "delete,create")

    result = await with_greeters(tmp_path, work)
    assert result.exit_code == 1
    assert "ConfigMap default/a would be created" in result.output
    assert "Greeter default/b would change" in result.output
    assert "2 create, 2 update; 0 events, 0 findings" in result.output
    assert "it has create" in result.output


@pytest.mark.realtime
async def test_beside_a_baseline_programs_read_what_differs(tmp_path: Path, louder: Path) -> None:
    def work(kubeconfig: Path) -> Result:
        return preview(louder, "--baseline", GREETER, "--kubeconfig", kubeconfig, "-o", "json")

    result = await with_greeters(tmp_path, work)
    assert result.exit_code == 0
    found = msgspec.json.decode(result.stdout)
    assert [(each["change"], each["plural"]) for each in found["changes"]] == [
        ("update", "configmaps"),
        ("update", "configmaps"),
    ]


@pytest.mark.parametrize("name", ["infra", "klight"])
def test_an_operator_that_acts_outside_of_the_cluster_is_refused(name: str) -> None:
    result = preview(name)
    assert result.exit_code == 1
    assert f"cannot preview {name}" in result.output


def test_a_word_that_means_nothing_is_refused() -> None:
    result = preview(GREETER, "--fail-on", "deletes")
    assert result.exit_code == 2
    assert "'deletes' is none of delete, replace" in result.output
