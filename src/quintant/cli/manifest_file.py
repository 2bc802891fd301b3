"""Manifests that commands are given: the one object of a kind that a file has."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from quintant.core import codec
from quintant.core.errors import ConfigError
from quintant.core.object import Object
from quintant.core.resource import resource_of
from quintant.core.yaml import load_all

K = TypeVar("K", bound=Object)


def read_manifest(kind: type[K], path: Path) -> K:
    """The first object of a kind in a file of YAML; ConfigError if there is none."""
    name = resource_of(kind).kind
    for document in load_all(path.read_bytes(), path.name):
        if isinstance(document, dict) and document.get("kind") == name:
            return codec.decode(kind, codec.encode(document))
    hint = f"kubectl get {name.lower()} NAME -o yaml > FILE"
    raise ConfigError(f"{path} has no {name}", hint=hint)
