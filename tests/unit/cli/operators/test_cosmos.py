"""`quintant cosmos plan` says what a manifest would do, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cli.operators.cosmos import planned
from quintant.core.errors import ConfigError
from quintant.core.yaml.dump import to_yaml
from testbeds.cosmos import NAMESPACE, full_node, opened


async def test_what_would_change_is_shown_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "hub.yaml"
    async with opened() as testbed:
        await testbed.run(replicas=2)
        path.write_text(to_yaml([full_node(replicas=2)]))
        assert await planned(testbed.cluster.client, path, NAMESPACE) == ["nothing would change"]
        path.write_text(to_yaml([full_node(replicas=3, image="gaia:v2")]))
        before = await testbed.full_node()
        shown = await planned(testbed.cluster.client, path, NAMESPACE)
        assert "restart  Pod hub-0  because of spec.podTemplate.image" in shown
        assert "create   Pod hub-2  because of spec.replicas" in shown
        assert shown[-1] == "2 pods are restarted, at most 1 at a time"
        assert "priv_key" not in str(shown)
        assert (await testbed.full_node()).metadata.generation == before.metadata.generation


async def test_a_manifest_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hub.yaml"
    async with opened(started=False) as testbed:
        path.write_text(to_yaml([full_node(strategy={"maxUnavailable": "abc"})]))
        with pytest.raises(ConfigError, match="maxUnavailable"):
            await planned(testbed.cluster.client, path, NAMESPACE)
        path.write_text("kind: Pod\n")
        with pytest.raises(ConfigError, match="has no CosmosFullNode"):
            await planned(testbed.cluster.client, path, NAMESPACE)
