"""Manifests of every field, and what each of them gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from quintant.api.batch import Job
from quintant.api.pod import Pod
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.schema.crd import definitions
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.runtime.cache.manifests import Applier
from testbeds.cosmos import NAMESPACE, CosmosTestbed
from testbeds.cosmos_manifests import FOLDER, OWNED, PRIORITY, Plain, manifest, owned

OTHERS = {
    "ports", "imagePullSecrets", "dataSource", "affinity", "tolerations", "volumes",
    "initContainers", "containers", "additionalVersionedPods",
}  # fmt: skip
"""Fields that hold types of Kubernetes itself, whose own fields are passed on."""
PASSED_ON = ("CosmosFullNode.podTemplate.resources.", "StatefulJob.podTemplate.")


def declared(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all fields of a schema."""
    for name, field in schema.get("properties", {}).items():
        below = field.get("items", field)
        inner = below.get("additionalProperties", below)
        yield f"{path}.{name}"
        if name not in OTHERS and isinstance(inner, dict):
            yield from declared(inner, f"{path}.{name}")


def given(value: Any, known: set[str], path: str = "") -> Iterator[str]:
    """The paths of all fields that a document sets; keys of maps are no fields."""
    for each in value if isinstance(value, list) else [value]:
        for name, field in each.items() if isinstance(each, dict) else ():
            deeper = f"{path}.{name}"
            yield from given(field, known, deeper if deeper in known else path)
            yield deeper


def test_every_field_of_every_kind_is_in_a_manifest() -> None:
    found = [manifest(path.stem) for path in FOLDER.glob("*.yaml")]
    for crd in definitions([CosmosFullNode, ScheduledVolumeSnapshot, StatefulJob]):
        (version,) = crd["spec"]["versions"]
        spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
        kind = crd["spec"]["names"]["kind"]
        fields = {path for path in declared(spec) if not f"{kind}{path}".startswith(PASSED_ON)}
        told = {
            path for each in found if each["kind"] == kind for path in given(each["spec"], fields)
        }
        assert fields - told == set(), kind


async def apply(testbed: CosmosTestbed, *documents: Plain) -> None:
    await Applier(testbed.cluster.client.rest, "user", NAMESPACE).apply(documents)


async def applied(testbed: CosmosTestbed, name: str) -> CosmosFullNode:
    """A manifest of a CosmosFullNode, once all its children are as they should be."""
    given = manifest(name)
    app = given["metadata"]["name"]
    for at in range(5):
        testbed.node(f"{app}-{at}").network = given["spec"]["chain"]["chainID"]
    await apply(testbed, PRIORITY, given)
    return await testbed.phase("Complete", app)


async def test_every_manifest_gives_exactly_its_objects(testbed: CosmosTestbed) -> None:
    for name, wanted in OWNED.items():
        assert await owned(testbed.cluster.client, await applied(testbed, name)) == wanted


def test_the_minimal_manifest_gives_twelve() -> None:
    assert len(OWNED["minimal"]) == 12


@pytest.mark.parametrize(("name", "reason"), [("schedule", "FullNodeNotFound"), ("job", "Error")])
async def test_what_has_nothing_to_copy_says_so_and_makes_nothing(
    testbed: CosmosTestbed, name: str, reason: str
) -> None:
    await apply(testbed, manifest(name))
    await testbed.cluster.advance(60)
    assert (await testbed.reasons()).count(reason) == 1
    for kind in (VolumeSnapshot, PersistentVolumeClaim, Job, Pod):
        assert await testbed.cluster.client.list(kind, NAMESPACE) == []
