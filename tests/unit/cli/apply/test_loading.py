"""Manifests that a cluster has before anybody uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.api.core import ConfigMap
from quintant.cli.apply.loading import apply_at_start, load_manifests
from quintant.core.errors import ConfigError
from quintant.testing import InProcessCluster

MAP = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}"


@pytest.mark.parametrize("kustomized", [True, False])
async def test_a_folder_is_applied_with_its_kustomization_or_without(
    cluster: InProcessCluster, tmp_path: Path, kustomized: bool
) -> None:
    (tmp_path / "a.yaml").write_text(MAP)
    if kustomized:
        (tmp_path / "kustomization.yaml").write_text("{resources: [a.yaml], labels: []}")
    await apply_at_start(cluster.server, load_manifests([tmp_path]))
    assert (await cluster.get(ConfigMap, "a")).data == {"k": "v"}


def test_what_cannot_be_read_is_said_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        load_manifests([tmp_path / "none"])
