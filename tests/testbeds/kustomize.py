"""Kustomizations read without kubectl: a folder's files, and the folders that it names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quintant.core.yaml import load_all

DEPLOY = Path(__file__).parents[2] / "deploy"


def kustomization(folder: Path) -> Iterator[dict[str, Any]]:
    """The objects of a folder, as `kubectl kustomize` builds them."""
    (listed,) = load_all((folder / "kustomization.yaml").read_bytes(), folder.name)
    for resource in listed["resources"]:
        if (path := folder / resource).is_dir():
            yield from kustomization(path)
        else:
            yield from load_all(path.read_bytes(), resource)
