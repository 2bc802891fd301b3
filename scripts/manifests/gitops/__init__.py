"""Health checks of every kind, for Argo CD in Lua and for Flux in CEL.

deploy/argocd/argocd-cm.yaml       keys for the ConfigMap of Argo CD
deploy/flux/health-checks.yaml     a patch for a Kustomization of Flux
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manifests.files import DEPLOY, HEADER
from manifests.operator_parts import operator_parts
from quintant.core.yaml.dump import to_yaml
from quintant.operators import OPERATORS

SCRIPT = Path(__file__).with_name("health.lua")
_IS = "status.conditions.exists(e, e.type == '{}' && e.status == 'True')"
EXPRESSIONS = {
    "inProgress": f"!has(status.conditions) || {_IS.format('Reconciling')}",
    "failed": _IS.format("Stalled"),
    "current": _IS.format("Ready"),
}
"""Flux compares generations first, then evaluates these in this order; none means in progress."""


def gitops_files() -> dict[Path, str]:
    """Every file for tools of GitOps, and its text."""
    return {
        DEPLOY / "argocd/argocd-cm.yaml": HEADER + to_yaml([_argocd()]),
        DEPLOY / "flux/health-checks.yaml": HEADER + to_yaml([_flux()]),
    }


def judged_kinds() -> Iterator[tuple[str, str, str]]:
    """Group, version and name of every kind that has a status."""
    for name in sorted(OPERATORS):
        for definition in operator_parts(name)["crds"]:
            spec = definition["spec"]
            for version in spec["versions"]:
                if "status" in version.get("subresources", {}):
                    yield spec["group"], version["name"], spec["names"]["kind"]


def _argocd() -> dict[str, Any]:
    script = SCRIPT.read_text()
    keys = (f"resource.customizations.health.{group}_{kind}" for group, _, kind in judged_kinds())
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "argocd-cm", "namespace": "argocd"},
        "data": dict.fromkeys(keys, script),
    }


def _flux() -> dict[str, Any]:
    checks = [
        {"apiVersion": f"{group}/{version}", "kind": kind, **EXPRESSIONS}
        for group, version, kind in judged_kinds()
    ]
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": "apps", "namespace": "flux-system"},
        "spec": {"wait": True, "healthCheckExprs": checks},
    }
