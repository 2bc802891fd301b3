"""`quintant preview`: what a file, or one of our operators, would do to a real address."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from click.testing import CliRunner, Result

from quintant.cli import main
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.instance.recorder import record
from quintant.core.address import BindAddress
from quintant.core.clock import SystemClock
from quintant.core.yaml import load as load_yaml
from quintant.runtime.manager.install_crds import install_crds
from scenarios.greeter import Greeter
from unit.cluster.api import Requests

ROOT = Path(__file__).parents[4]
GREETER = ROOT / "examples/01_greeter.py"
DOCS = ROOT / "docs/preview.md"
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


def greeter_of(name: str) -> dict[str, object]:
    obj = {"metadata": {"name": name}, "spec": {"message": "hi"}}
    return {"apiVersion": "demo.dev/v1", "kind": "Greeter", **obj}


async def with_greeters(tmp_path: Path, work: Callable[[Path], Result]) -> Result:
    """Run a command beside a cluster that has two greeters."""
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        kubeconfig = tmp_path / "kubeconfig"
        save_kubeconfig(cluster, kubeconfig)
        transport = HttpTransport(Config.load(kubeconfig))
        await install_crds(transport, [Greeter])
        for name in ("a", "b"):
            await Requests(transport).create(GREETERS, greeter_of(name))
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


@pytest.mark.realtime
async def test_a_version_that_deletes_all_children_ends_with_1_and_they_are_named(
    tmp_path: Path,
) -> None:
    text = GREETER.read_text()
    planted = tmp_path / "planted.py"
    planted.write_text(text.replace("ctx.apply(", "ctx.client.delete("))
    assert planted.read_text() != text

    async def children(path: Path) -> None:
        transport = HttpTransport(Config.load(path))
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        await Requests(transport).create("/api/v1/namespaces/default/configmaps", body)
        await transport.close()

    def work(kubeconfig: Path) -> Result:
        asyncio.run(children(kubeconfig))
        return preview(planted, "--kubeconfig", kubeconfig, "--fail-on", "delete")

    result = await with_greeters(tmp_path, work)
    assert result.exit_code == 1
    assert "ConfigMap default/a would be deleted" in result.output
    assert "it has delete" in result.output


@pytest.mark.realtime
async def test_a_dry_run_and_junit_are_for_the_pipeline(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"

    def work(kubeconfig: Path) -> Result:
        return preview(
            GREETER, "--kubeconfig", kubeconfig, "--server-dry-run", "--for", "1m",
            "--fail-on", "delete", "--junit", report,
        )  # fmt: skip

    result = await with_greeters(tmp_path, work)
    assert result.exit_code == 0
    assert "2 create, 2 update; 0 events, 0 findings" in result.output
    suite = ElementTree.parse(report).getroot()[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (
        str(GREETER), "5", "0"
    )  # fmt: skip


@pytest.mark.realtime
async def test_a_recording_stands_for_a_cluster(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        transport = HttpTransport(Config.from_bytes(cluster.kubeconfig.reveal()))
        await install_crds(transport, [Greeter])
        async with record(transport, path, SystemClock()):
            for name in ("a", "b"):
                await Requests(transport).create(GREETERS, greeter_of(name))
    result = await asyncio.to_thread(preview, GREETER, "--recording", path)
    assert "2 create, 2 update; 0 events, 0 findings" in result.output, result.output
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--until", 5), "--until is about a --recording"),
        (("--recording", "x", "--server-dry-run"), "takes the place of a cluster"),
        (("--for", "0.5"), "less than 1 s"),
        (("--for", "soon"), "no duration"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: tuple[object, ...], why: str) -> None:
    result = preview(GREETER, *arguments)
    assert result.exit_code == 2
    assert why in result.output


def test_a_word_that_means_nothing_is_refused() -> None:
    result = preview(GREETER, "--fail-on", "deletes")
    assert result.exit_code == 2
    assert "'deletes' is none of delete, replace" in result.output


def workflow_step() -> tuple[list[str], dict[str, str]]:
    """The step of the workflow in docs/preview.md that asks, and its environment."""
    (block,) = re.findall(r"```yaml\n(on: pull_request\n.*?)```", DOCS.read_text(), re.DOTALL)
    steps = load_yaml(block)["jobs"]["preview"]["steps"]
    (step,) = [each for each in steps if each.get("run", "").startswith("quintant preview ")]
    return shlex.split(step["run"])[1:], step["env"]


@pytest.mark.realtime
@pytest.mark.parametrize(("deletes", "code"), [(False, 0), (True, 1)])
async def test_the_step_of_a_workflow_fails_for_what_would_be_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deletes: bool, code: int
) -> None:
    arguments, environment = workflow_step()
    text = GREETER.read_text()
    (tmp_path / "old.py").write_text(text)
    planted = "await ctx.client.delete(greeter)\n    " if deletes else ""
    changed = text.replace("    child = ", f"    {planted}child = ")
    assert (changed != text) is deletes
    (tmp_path / "controller.py").write_text(changed)

    def work(kubeconfig: Path) -> Result:
        monkeypatch.chdir(tmp_path)
        assert (tmp_path / environment["KUBECONFIG"]).read_text() == kubeconfig.read_text()
        return CliRunner(env=environment).invoke(main, arguments)

    result = await with_greeters(tmp_path, work)
    assert result.exit_code == code, result.output
    assert ("Greeter default/a would be deleted" in result.output) is deletes
    assert ElementTree.parse(tmp_path / "preview.xml").getroot().tag == "testsuites"
