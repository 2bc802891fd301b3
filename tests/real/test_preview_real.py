"""`quintant preview` before a real API server, whose audit log is the witness."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from envtest import RealCluster
from quintant import Client, Config
from quintant.api.core import ConfigMap
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.preview.object_diffs import ObjectAction
from quintant.preview.run import preview
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from scenarios.greeter import Greeter, greeter, greeter_manager

POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""


@pytest.fixture
def audited(tmp_path: Path) -> Iterator[tuple[RealCluster, Path]]:
    """A real control plane, and the file with its audit log."""
    policy, log = tmp_path / "policy.yaml", tmp_path / "audit.log"
    policy.write_text(POLICY)
    flags = (f"--audit-policy-file={policy}", f"--audit-log-path={log}")
    with RealCluster(apiserver=flags) as cluster:
        if not cluster.store:
            pytest.skip("the audit log of a given cluster is not ours to read")
        yield cluster, log


def verbs_after(log: Path, moment: int) -> set[str]:
    """The verbs of requests by clients of ours that the log has behind so many bytes."""
    lines = log.read_bytes()[moment:].splitlines()
    events = [msgspec.json.decode(line) for line in lines]
    return {event["verb"] for event in events if event["user"]["username"] == "admin"}


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
