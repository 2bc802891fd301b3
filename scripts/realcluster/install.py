"""Installing operators as a user does: some with `kubectl apply -k`, some with the charts for Helm.

With kubectl it is an overlay over the folder of the operator in deploy, which sets the variables
that a sample needs; with Helm they are values. Nothing of what is generated is copied.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quintant.operators import OPERATORS
from realcluster.kubectl import Helm, Kubectl

DEPLOY = Path(__file__).parents[2] / "deploy"
CHARTS = DEPLOY / "charts"
ENFORCE = "pod-security.kubernetes.io/enforce"
ROLLOUT_SECONDS = 300


def overlay(operator: str, settings: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """A kustomization of an operator as it is deployed, with further variables."""
    name = OPERATORS[operator].name
    variables = [{"name": key, "value": value} for key, value in settings.items()]
    container = {"name": name, "env": variables}
    patch = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": OPERATORS[operator].namespace},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [os.path.relpath(DEPLOY / operator, folder)],
        "patches": [{"patch": json.dumps(patch)}] if variables else [],
    }


def write_overlay(operator: str, settings: Mapping[str, str], home: Path) -> Path:
    """Write the overlay into a folder of its own, and return that."""
    folder = home / operator
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kustomization.yaml").write_text(json.dumps(overlay(operator, settings, folder)))
    return folder


async def apply_operator(kubectl: Kubectl, operator: str, folder: Path) -> None:
    """Apply an operator from its overlay."""
    await kubectl("apply", f"--kustomize={folder}")
    await enforce_restricted(kubectl, operator)


async def enforce_restricted(kubectl: Kubectl, operator: str) -> None:
    """Let the namespaces of an operator refuse whatever is not `restricted`."""
    for each in (OPERATORS[operator].namespace, *OPERATORS[operator].namespaces):
        await kubectl("label", "--overwrite", "namespace", each, f"{ENFORCE}=restricted")


async def release_operator(
    kubectl: Kubectl, helm: Helm, operator: str, settings: Mapping[str, str]
) -> None:
    """Install the charts of definitions and operators, with one operator switched on."""
    home = OPERATORS[operator].namespace
    await kubectl.apply([namespace(home)])
    await helm("install", f"{operator}-crds", str(CHARTS / "quintant-crds"), *_values(operator, {}))
    await helm("install", operator, str(CHARTS / "quintant"), *_values(operator, settings))
    await enforce_restricted(kubectl, operator)


def _values(operator: str, settings: Mapping[str, str]) -> tuple[str, ...]:
    variables = [{"name": key, "value": value} for key, value in settings.items()]
    given = (f"--set-json=operators.{operator}.env={json.dumps(variables)}",) if variables else ()
    switch = f"--set=operators.{operator}.enabled=true"
    return (f"--namespace={OPERATORS[operator].namespace}", switch, *given)


async def rolled_out(kubectl: Kubectl, operator: str) -> None:
    """Return when every replica of an operator is ready."""
    name, namespace = OPERATORS[operator].name, OPERATORS[operator].namespace
    await kubectl(
        *("rollout", "status", f"deployment/{name}", f"--namespace={namespace}"),
        f"--timeout={ROLLOUT_SECONDS}s",
    )


def namespace(name: str) -> dict[str, Any]:
    """A namespace that refuses whatever is not `restricted`."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {ENFORCE: "restricted"}},
    }
