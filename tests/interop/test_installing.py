"""docs/installing.md on an embedded cluster: its commands in their order, and what it promises.

Pods are simulated: what counts here is what becomes of objects.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.kubectl import programs
from scenarios.up import up
from testbeds.helm import CRDS_CHART, OPERATORS_CHART, Helm
from testbeds.kustomize import DEPLOY
from unit.test_docs import DOCS, ROOT, blocks

OPERATORS, CRDS = str(OPERATORS_CHART), str(CRDS_CHART)
KLIGHT = ("--namespace", "klight-system", "--set", "operators.klight.enabled=true")
TAKE_OVER = ("--take-ownership", "--force-conflicts")
NETWORK = """\
apiVersion: klight.quintant.dev/v1alpha1
kind: LightNetwork
metadata: {name: kept, namespace: default}
spec: {networkID: kept}
"""
DEVICE = """\
apiVersion: shifu.edgenesis.io/v1alpha1
kind: EdgeDevice
metadata: {name: kept, namespace: devices}
spec: {}
"""
SNAPSHOTS = """\
apiVersion: cosmos.strange.love/v1alpha1
kind: ScheduledVolumeSnapshot
metadata: {name: held, namespace: default, finalizers: [cosmos.strange.love/restore-pod]}
spec:
  fullNodeRef: {name: nobody, ordinal: 0}
  schedule: 0 * * * *
  volumeSnapshotClassName: standard
"""


class Site:
    """A cluster, and the programs of who installs something there."""

    def __init__(self, helm: Helm, folder: Path) -> None:
        self.helm, self.folder = helm, folder
        (folder / "bin").mkdir()
        for name, program in {
            "helm": helm.program,
            "kubectl": programs()[0],
            "quintant": Path(sys.executable).with_name("quintant"),
        }.items():
            (folder / "bin" / name).symlink_to(program)
        self.environ = {**helm.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}

    def shell(self, text: str, given: str = "", folder: Path = ROOT) -> str:
        """What commands print; each has to succeed."""
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", text],
            env=self.environ, cwd=folder, input=given, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def names(self, kind: str, *words: str) -> set[str]:
        """The names of the objects of a kind."""
        output = f"-o jsonpath='{{.items[*].metadata.name}}' {' '.join(words)}"
        return set(self.shell(f"kubectl get {kind} {output}").split())

    def definitions(self, group: str) -> set[str]:
        return {name for name in self.names("crds") if name.endswith(group)}


@pytest.fixture
def site(helm: Helm, tmp_path: Path) -> Iterator[Site]:
    if not programs():
        pytest.skip("there is no kubectl")
    with up(tmp_path, "--no-node", "--nodes", "1") as kubeconfig:
        yield Site(replace(helm, kubeconfig=kubeconfig), tmp_path)


def test_every_command_of_the_page_works_in_its_order(site: Site) -> None:
    site.shell("kubectl create namespace team-a; kubectl create namespace team-b")
    for block in blocks(DOCS / "installing.md"):
        if block.info == "sh":
            site.shell(block.text)
    assert site.definitions("portal.gosuda.org") == set()
    assert site.definitions("klight.quintant.dev") == {"lightnetworks.klight.quintant.dev"}
    assert site.names("deployments", "-A") == set()


def test_objects_and_definitions_outlive_the_releases(site: Site) -> None:
    site.helm("install", "klight-crds", CRDS, "--create-namespace", *KLIGHT)
    site.helm("install", "klight", OPERATORS, "--wait", *KLIGHT)
    assert site.names("deployments", "-n klight-system") == {"klight"}
    site.shell("kubectl apply -f -", NETWORK)
    site.helm("uninstall", "klight", "klight-crds", "--namespace", "klight-system")
    assert site.names("deployments", "-A") == set()
    assert site.names("lightnetworks") == {"kept"}

    said = site.helm.run("install", "klight-crds", CRDS, *KLIGHT).stderr
    assert said == "", "its own definitions are found again"
    assert site.names("lightnetworks") == {"kept"}


def test_objects_outlive_an_operator_that_kubectl_deletes(site: Site) -> None:
    site.shell(f"kubectl apply -k {DEPLOY}/shifu")
    site.shell("kubectl apply -f -", DEVICE)
    site.shell(f"kubectl delete -k {DEPLOY}/shifu/operator --ignore-not-found")
    assert site.names("edgedevices", "-n devices") == {"kept"}
    assert "shifu-system" not in site.names("namespaces")


def test_helm_refuses_what_kubectl_installed_and_takes_over_when_it_is_said(site: Site) -> None:
    site.shell(f"kubectl apply -k {DEPLOY}/klight")
    site.shell("kubectl -n klight-system rollout status deployment/klight --timeout=60s")
    pods = site.names("pods", "-n klight-system")
    refused = site.helm.run("install", "klight", OPERATORS, *KLIGHT)
    assert refused.returncode != 0
    assert "invalid ownership metadata" in refused.stderr

    site.helm("upgrade", "--install", "klight", OPERATORS, "--wait", *KLIGHT, *TAKE_OVER)
    assert site.names("pods", "-n klight-system") == pods, "none was restarted"
    three = ("--set", "operators.klight.replicas=3", "--force-conflicts")
    site.helm("upgrade", "klight", OPERATORS, "--wait", *KLIGHT, *three)
    assert len(site.names("pods", "-n klight-system")) == 3


def test_missing_definitions_are_named_with_the_command_that_brings_them(site: Site) -> None:
    said = site.helm("install", "klight", OPERATORS, "--create-namespace", *KLIGHT)
    assert "The definitions of klight are missing" in said
    command = next(line.strip() for line in said.splitlines() if line.startswith("  helm "))
    site.shell(command)
    assert site.definitions("klight.quintant.dev")
    again = site.helm("upgrade", "klight", OPERATORS, *KLIGHT)
    assert "missing" not in again


def test_nothing_is_installed_for_a_namespace_that_is_not_there(site: Site) -> None:
    watched = ("--set", "namespaces={team-z}")
    refused = site.helm.run("install", "klight", OPERATORS, "--create-namespace", *KLIGHT, *watched)
    assert 'namespaces "team-z" not found' in refused.stderr
    site.shell("kubectl create namespace team-z")
    site.helm("upgrade", "--install", "klight", OPERATORS, "--wait", *KLIGHT, *watched)
    assert site.names("roles", "-n team-z") == {"klight"}
    assert "klight" not in site.names("clusterroles")


def test_what_waits_for_an_operator_that_is_gone_is_released(site: Site) -> None:
    cosmos = ("--namespace", "cosmos", "--set", "operators.cosmos.enabled=true")
    site.helm("install", "crds", CRDS, "--create-namespace", *cosmos)
    site.helm("install", "cosmos", OPERATORS, *cosmos)
    site.shell("kubectl apply -f -", SNAPSHOTS)
    site.helm("uninstall", "cosmos", "--namespace", "cosmos")
    site.shell("kubectl delete scheduledvolumesnapshots held --wait=false")
    assert site.names("scheduledvolumesnapshots") == {"held"}
    site.shell("quintant finalizers release cosmos --yes")
    assert site.names("scheduledvolumesnapshots") == set()


def test_definitions_that_were_deleted_first_go_once_finalizers_are_released(site: Site) -> None:
    cosmos = ("--namespace", "cosmos", "--set", "operators.cosmos.enabled=true")
    site.helm("install", "crds", CRDS, "--create-namespace", *cosmos)
    site.shell("kubectl apply -f -", SNAPSHOTS)
    site.shell(f"kubectl delete -k {DEPLOY}/cosmos/crds --wait=false")
    assert site.names("scheduledvolumesnapshots") == {"held"}, "it waits for its operator"
    site.shell("quintant finalizers release cosmos --yes")
    gone = "crd/scheduledvolumesnapshots.cosmos.strange.love"
    site.shell(f"kubectl wait --for=delete {gone} --timeout=60s")
    assert site.definitions("cosmos.strange.love") == set()
