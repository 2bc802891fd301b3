"""Whatever stands in a status, a mark or a label: what is not ours stays, and ours comes back.

A status of the wrong type is left to a person, and says so in the log.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import msgspec
import pytest

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Pod, Secret, Service
from quintant.core.object import Object, ObjectMeta
from quintant.operators.portal.builders import EXPOSE_LABEL, EXPOSE_NAME
from quintant.testing import InProcessCluster
from testbeds.portal import PortalTestbed

SEEDS = 20 if not os.environ.get("QUINTANT_SOAK") else 1000
TOGETHER = 10
ROOT = "/apis/portal.gosuda.org/v1alpha1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EXPOSE = f"{ROOT}/namespaces/default/portalexposes/shop"
CLASS = f"{ROOT}/tunnelclasses/small"
FIELDS = {
    EXPOSE: ("phase", "publicURL", "tunnelPods", "relay", "observedGeneration",
             "tunnelClassName", "conditions"),
    CLASS: ("observedGeneration", "conditions"),
}  # fmt: skip
WRONG: tuple[Any, ...] = (
    None, "", 7, -1, 2**62, True, [], {}, "x", ["x"], [{}], {"x": None}, "Ready", "Failed",
    {"connected": None}, {"connected": [{}]}, {"ready": "1", "total": []}, {"ready": 2**62},
    {"connected": [{"name": "r0", "status": "Connected", "connectedAt": "9999-99-99"}] * 2},
    [{"type": "Available", "status": "True", "reason": "x", "message": "x"}] * 2,
    [{"type": "Default", "status": 7}], [{"type": "Available", "lastTransitionTime": "now"}],
)  # fmt: skip
OTHERS = ("other", "other-tunnel", "own", "default/other", "https://other.r0.example.com")
KINDS: tuple[type[Object], ...] = (Deployment, ConfigMap, Secret, Service)


async def loosen(cluster: InProcessCluster) -> None:
    """Let everything be written, as an older definition or a careless restore would."""
    for plural in ("portalexposes", "tunnelclasses"):
        path = f"{DEFINITIONS}/{plural}.portal.gosuda.org"
        definition = msgspec.json.decode(await cluster.client.raw("GET", path))
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        for version in definition["spec"]["versions"]:
            version["schema"]["openAPIV3Schema"]["properties"]["status"] = schema
        await cluster.client.raw("PUT", path, body=msgspec.json.encode(definition))


async def objects(testbed: PortalTestbed) -> set[tuple[str, str, int | None]]:
    """Everything that could be lost or changed: kind and name, uid, and what was asked of it."""
    return {
        (f"{kind.__name__}/{each.metadata.name}", each.metadata.uid, each.metadata.generation)
        for kind in KINDS
        for each in await testbed.cluster.client.list(kind, "default")
    }


async def damage(testbed: PortalTestbed, chance: Random) -> None:
    """Change some fields of both statuses, and what a tunnel pod says of itself."""
    for path, fields in FIELDS.items():
        chosen = chance.sample(fields, chance.choice((1, 2)))
        change = {each: chance.choice((*WRONG, *OTHERS)) for each in chosen}
        await testbed.merge(f"{path}/status", {"status": change})
    pods = await testbed.cluster.client.list(Pod, "default")
    pod = next(each for each in pods if each.metadata.name.startswith("shop-"))
    key = chance.choice((EXPOSE_LABEL, EXPOSE_NAME))
    kind = "labels" if key == EXPOSE_LABEL else "annotations"
    change = {"metadata": {kind: {key: chance.choice((None, "", "other", "x"))}}}
    await testbed.merge(f"/api/v1/namespaces/default/pods/{pod.metadata.name}", change)


async def repair(testbed: PortalTestbed) -> None:
    """Take the statuses away, as a person would."""
    for path, fields in FIELDS.items():
        await testbed.merge(f"{path}/status", {"status": dict.fromkeys(fields)})


@pytest.mark.parametrize("first", range(0, SEEDS, TOGETHER))
async def test_damaged_statuses_take_nothing_away_and_are_said_anew(
    testbed: PortalTestbed, first: int
) -> None:
    await testbed.cluster.create(ConfigMap(metadata=ObjectMeta(name="own")))
    await testbed.ready()
    await testbed.expose("other")
    await testbed.phase("Ready", "other")
    await loosen(testbed.cluster)
    before = await objects(testbed)
    for seed in range(first, first + TOGETHER):
        chance = Random(seed)
        await damage(testbed, chance)
        if chance.random() < 0.5 and testbed.engine is not None:
            await testbed.cluster.crash(testbed.engine)
            await testbed.start()
        await testbed.cluster.advance(60)
        assert await objects(testbed) == before, f"seed {seed}"
        await repair(testbed)
        await testbed.cluster.advance(60)
        await testbed.phase("Ready", "other", within=0.1)
        found = await testbed.phase("Ready", within=0.1)
        assert found.status is not None
        assert found.status.public_url == "https://shop.r0.example.com"
    gone = {each for each in before if each[0].split("/")[1].startswith("shop-")}
    await testbed.cluster.client.raw("DELETE", EXPOSE)
    await testbed.cluster.advance(60)
    assert await objects(testbed) == before - gone
