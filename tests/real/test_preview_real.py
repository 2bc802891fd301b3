"""`quintant preview` before a real API server, whose audit log is the witness."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from envtest import RealCluster
from envtest.existing import kubectl
from quintant import Client, Config
from quintant.api.core import ConfigMap, Namespace
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.resource import is_custom_kind
from quintant.operators import OPERATORS
from quintant.operators import manager_of as operator_manager
from quintant.preview.object_diffs import ObjectAction
from quintant.preview.run import PreviewLimits, preview
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.manager.sample import Sample
from quintant.testing import named
from scenarios.greeter import Greeter, greeter, greeter_manager
from testbeds.audited_cluster import audited_cluster
from unit.preview.test_dry_run import does_everything
from unit.preview.test_run import manager_of

POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""


@pytest.fixture
def audited(tmp_path: Path) -> Iterator[tuple[RealCluster, Path]]:
    """A real control plane, and the file with its audit log."""
    with audited_cluster(tmp_path, POLICY) as found:
        yield found


def requests_after(log: Path, moment: int) -> list[dict[str, Any]]:
    """Requests by clients of ours that the log has behind so many bytes."""
    events = [msgspec.json.decode(line) for line in log.read_bytes()[moment:].splitlines()]
    return [event for event in events if event["user"]["username"] == "admin"]


def verbs_after(log: Path, moment: int) -> set[str]:
    """Their verbs."""
    return {event["verb"] for event in requests_after(log, moment)}


def writes_after(log: Path, moment: int) -> list[dict[str, Any]]:
    """Those that are no reading."""
    found = requests_after(log, moment)
    return [event for event in found if event["verb"] not in ("get", "list", "watch")]


async def test_a_preview_reads_and_writes_nothing(audited: tuple[RealCluster, Path]) -> None:
    cluster, log = audited
    transport = HttpTransport(Config.load(cluster.kubeconfig))
    try:
        client = Client(Rest(transport), manager="tests")
        await install_crds(transport, [Greeter])
        await client.create(greeter("a"))
        moment = log.stat().st_size
        found = await preview(greeter_manager(), Environment(transport))
        assert (ObjectAction.CREATE, "configmaps", "a") in [
            (each.action, each.id.plural, each.id.name) for each in found.changes
        ]
        assert await client.find(ConfigMap, "a", "default") is None
        assert "list" in verbs_after(log, moment)
        assert verbs_after(log, moment) <= {"get", "list"}
    finally:
        await transport.close()


async def test_with_a_dry_run_every_write_is_marked_as_one(
    audited: tuple[RealCluster, Path],
) -> None:
    cluster, log = audited
    transport = HttpTransport(Config.load(cluster.kubeconfig))
    try:
        client = Client(Rest(transport), manager="tests")
        await install_crds(transport, [Greeter])
        await client.create(greeter("a"))
        await client.create(ConfigMap(metadata=named("kept"), data={"a": "b"}))
        moment = log.stat().st_size
        limits = PreviewLimits(server_dry_run=True)
        found = await preview(manager_of(does_everything), Environment(transport), limits)
        assert found.writes
        assert await client.find(ConfigMap, "more", "default") is None
        assert (await client.get(ConfigMap, "kept", "default")).data == {"a": "b"}
        writes = writes_after(log, moment)
        assert {each["verb"] for each in writes} >= {
            "create",
            "update",
            "patch",
            "deletecollection",
        }
        assert [each for each in writes if "dryRun=All" not in each["requestURI"]] == []
    finally:
        await transport.close()


CHANGED = {
    "cosmos": {"TOOL_IMAGE": "example.com/quintant:2"},
    "infra": {"INSTANCE_ID": "another"},
    "klight": {"KLIGHT_REPAIR": "off"},
    "portal": {"TUNNEL_IMAGE": "example.com/quintant:2"},
    "shifu": {"AGENT_IMAGE": "example.com/quintant:2"},
}
"""Another default of each operator, as a variable of its environment."""


def previewed(folder: str, kubeconfig: Path, settings: Mapping[str, str]) -> dict[str, Any]:
    """What `quintant preview` says of an operator."""
    command = (*("-m", "quintant", "preview", folder), *("-o", "json", "--for", "20s"))
    done = subprocess.run(
        [sys.executable, *command, "--kubeconfig", str(kubeconfig)],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = msgspec.json.decode(done.stdout)
    return found


async def prepare(folder: str, transport: HttpTransport, kubeconfig: Path) -> None:
    """Install the definitions of an operator, and the sample of what it is for."""
    client = Client(Rest(transport), manager="tests")
    await install_crds(
        transport, [each for each in operator_manager(folder).kinds() if is_custom_kind(each)]
    )
    program = OPERATORS[folder]
    sample: Sample = import_module(f"quintant.operators.{folder}.sample").SAMPLE
    for name in {*sample.namespaces, *program.namespaces, program.namespace}:
        await client.create(Namespace(metadata=named(name, namespace="")))
    for manifest in sample.manifests:
        meta = {"namespace": sample.namespace, **manifest["metadata"]}
        body = msgspec.json.encode({**manifest, "metadata": meta})
        command = [kubectl(os.environ), f"--kubeconfig={kubeconfig}", "create", "-f", "-"]
        await asyncio.to_thread(subprocess.run, command, input=body, check=True)


async def test_previews_of_the_operators_with_another_default_write_nothing(
    audited: tuple[RealCluster, Path],
) -> None:
    cluster, log = audited
    transport = HttpTransport(Config.load(cluster.kubeconfig))
    try:
        for folder in OPERATORS:
            await prepare(folder, transport, cluster.kubeconfig)
        moment = log.stat().st_size
        for folder, settings in CHANGED.items():
            found = await asyncio.to_thread(previewed, folder, cluster.kubeconfig, settings)
            assert found["changes"], folder
            assert found["findings"] == [], folder
        assert "list" in verbs_after(log, moment)
        assert verbs_after(log, moment) <= {"get", "list"}
    finally:
        await transport.close()
