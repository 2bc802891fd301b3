"""Older releases of kubectl, which people have: the verbs of every day, on the embedded cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.kubectl import Kubectl
from envtest.build import provide_kubectl
from foreign.errors import ProgramError
from interop.conftest import Aloud

# The oldest that was tried, and one between it and ours; ours is in `make conformance`.
RELEASES = ("v1.27.3", "v1.33.13")
APP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
"""


@pytest.fixture(params=RELEASES)
def kubectl(
    request: pytest.FixtureRequest, kubeconfig: Path, tmp_path: Path, aloud: Aloud
) -> Kubectl:
    """The kubectl of a release, built in the cache where it is missing."""
    try:
        with aloud():
            program = provide_kubectl(os.environ, request.param)
    except ProgramError as error:
        pytest.skip(str(error))
    return Kubectl(program, kubeconfig, tmp_path / "cache", "default")


async def test_a_deployment_is_applied_rolled_out_changed_and_deleted(kubectl: Kubectl) -> None:
    assert await kubectl("apply", "-f", "-", given=APP) == "deployment.apps/web created\n"
    await kubectl("rollout", "status", "deploy/web", "--timeout=30s")
    header, row = (await kubectl("get", "deploy")).splitlines()
    assert header.split()[:2] == ["NAME", "READY"]
    assert row.split()[:2] == ["web", "2/2"]
    await kubectl("set", "image", "deploy/web", "web=web:2")
    await kubectl("rollout", "status", "deploy/web", "--timeout=30s")
    await kubectl("rollout", "undo", "deploy/web")
    assert "Image:" in await kubectl("describe", "deploy/web")
    await kubectl("delete", "-f", "-", "--wait", given=APP)
    assert (await kubectl.run("get", "deploy/web")).code == 1


async def test_fields_are_explained_applied_on_the_server_and_compared(kubectl: Kubectl) -> None:
    applied = await kubectl("apply", "--server-side", "-f", "-", given=APP)
    assert applied == "deployment.apps/web serverside-applied\n"
    compared = await kubectl.run("diff", "--server-side", "-f", "-", given=APP)
    assert compared.code == 0, compared.out
    assert "replicas" in await kubectl("explain", "deployment.spec")
    assert await kubectl("auth", "can-i", "create", "pods") == "yes\n"
