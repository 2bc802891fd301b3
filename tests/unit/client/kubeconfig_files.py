"""Kubeconfig files for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def kubeconfig(
    path: Path,
    *,
    cluster: Mapping[str, Any] | None = None,
    user: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
    name: str = "main",
    current: str | None = None,
) -> Path:
    """Write a kubeconfig with one cluster, user and context of the same name."""
    where = {"server": "https://api.test:6443", **(cluster or {})}
    names = {"cluster": name, "user": name, **(context or {})}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": where}],
        "users": [{"name": name, "user": dict(user or {})}],
        "contexts": [{"name": name, "context": names}],
        "current-context": name if current is None else current,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path
