"""Kustomizations: a folder of files, or of folders, that `kubectl apply -k` applies at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from manifests.files import DEPLOY, HEADER
from quintant.core.yaml.dump import to_yaml

Plain = dict[str, Any]
Parts = Mapping[str, list[Plain]]
"""Objects by what they are about."""
CRDS, OPERATOR = "crds", "operator"


def installation(folder: str, parts: Parts, crds: str = CRDS) -> dict[Path, str]:
    """A whole installation: definitions, which stay, and the program, which may be deleted alone.

    `crds` is where its definitions are, seen from the folder: its own, or those of another.
    """
    kept, program = split(parts)
    found = kustomization(f"{folder}/{OPERATOR}", program)
    if crds == CRDS:
        found |= kustomization(f"{folder}/{CRDS}", kept)
    return found | _listed(folder, (crds, OPERATOR))


def split(parts: Parts) -> tuple[Parts, Parts]:
    """What stays when the program goes: definitions, and namespaces that hold users' objects."""
    home, *others = parts["namespace"]
    kept = {"crds": parts["crds"]} | ({"namespaces": others} if others else {})
    program = {name: objects for name, objects in parts.items() if name != "crds"}
    return kept, program | {"namespace": [home]}


def kustomization(folder: str, parts: Parts) -> dict[Path, str]:
    """A folder with a file for each part."""
    return plain_files(folder, parts) | _listed(folder, (f"{name}.yaml" for name in parts))


def plain_files(folder: str, parts: Parts) -> dict[Path, str]:
    """The files alone."""
    return {
        DEPLOY / folder / f"{name}.yaml": HEADER + to_yaml(objects)
        for name, objects in parts.items()
    }


def _listed(folder: str, resources: Iterable[str]) -> dict[Path, str]:
    listed = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": list(resources),
    }
    return {DEPLOY / folder / "kustomization.yaml": HEADER + to_yaml([listed])}
