"""Manifests in every shape that users of the contract have apply as they are."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from quintant.api.core import Namespace
from quintant.core.object import ObjectMeta
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.sample import manifests
from testbeds.portal import PortalTestbed

FILES = sorted((Path(__file__).parent / "manifests").glob("*.yaml"))
GROUP = "portal.gosuda.org/v1alpha1"


def test_there_are_twelve() -> None:
    assert len(FILES) == 12


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_manifest_applies_and_keeps_every_field(testbed: PortalTestbed, file: Path) -> None:
    for name in ("production", "microservices"):
        await testbed.cluster.create(Namespace(metadata=ObjectMeta(name=name)))
    wanted = manifests(file)
    await Applier(testbed.cluster.client.rest, "user").apply(wanted)
    ours = [each for each in wanted if each["apiVersion"] == GROUP]
    assert ours
    for each in ours:
        place, plural = each["metadata"].get("namespace", "default"), "portalexposes"
        scope = f"/namespaces/{place}"
        if each["kind"] == "TunnelClass":
            scope, plural = "", "tunnelclasses"
        path = f"/apis/{GROUP}{scope}/{plural}/{each['metadata']['name']}"
        stored = msgspec.json.decode(await testbed.cluster.client.raw("GET", path))
        assert stored["spec"] == each["spec"]
        annotations = stored["metadata"].get("annotations", {})
        assert annotations == each["metadata"].get("annotations", {})


async def test_quick_start_becomes_ready(testbed: PortalTestbed) -> None:
    (file,) = [each for each in FILES if each.stem == "quick-start"]
    testbed.starts = lambda pod: pod.metadata.name.startswith("hello-world-tunnel")
    await Applier(testbed.cluster.client.rest, "user").apply(manifests(file))
    found = await testbed.phase("Ready", "hello-world")
    assert found.status is not None
    assert found.status.public_url == "https://hello-world.portal.gosuda.org"
    deployment = await testbed.deployment("hello-world")
    assert deployment.spec.replicas == 1
    assert len(deployment.spec.selector.match_labels) == 4
