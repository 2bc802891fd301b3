"""Whatever stands in a status: only infrastructures of the Cluster itself are called for."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from quintant.api.core import Secret
from quintant.core.errors import NotFound
from quintant.operators.infra.observed.session import ProviderSession
from testbeds.infra import API_VERSION, InfraTestbed, opened, template

SEEDS = 40 if not os.environ.get("QUINTANT_SOAK") else 1000
PATH = f"/apis/{API_VERSION}/namespaces/default/clusters"
Plain = dict[str, Any]


async def loosen(testbed: InfraTestbed, *plurals: str) -> None:
    """Let everything be written, as an older definition or a careless restore would."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    loose = {"name": "v1alpha1", "served": True, "storage": True, "subresources": {"status": {}}}
    definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
    versions = [{**loose, "schema": {"openAPIV3Schema": schema}}]
    for plural in plurals or ("clusters",):
        await testbed.merge(
            f"{definition}{plural}.infra.quintant.dev", {"spec": {"versions": versions}}
        )


async def foreign(testbed: InfraTestbed) -> str:
    """An infrastructure of the same user that no Cluster has; its id."""
    model, document = testbed.model, template() | {"metadata": {"infra_name": "somebody's"}}
    session = ProviderSession(testbed.url, {}, {})
    owner = next(iter(model.infrastructures.values())).owner
    made = await model.create(session, owner, document)
    await testbed.cluster.advance(10)
    return made


async def damage(testbed: InfraTestbed, name: str, change: Plain) -> None:
    await testbed.merge(f"{PATH}/{name}/status", {"status": change})


async def test_deletion_with_a_damaged_status_leaves_what_is_not_the_clusters(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    await testbed.make("two")
    await testbed.state("ONLINE", "two")
    other = await foreign(testbed)
    await testbed.crash()
    moment = testbed.cluster.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    operation = {"type": "Update", "phase": "Prepared", "lastAttemptAt": moment}
    await damage(testbed, "two", {"clusterID": None, "operation": operation})
    await testbed.delete("two")
    await testbed.start()
    await testbed.gone("two", within=600)
    # Its own is found by its mark, and goes.
    assert set(testbed.model.infrastructures) == {"inf-1", other}
    found = await testbed.get()
    assert found.status is not None
    assert found.status.state == "ONLINE"


def damaged(status: Plain, others: list[str], other: Plain, random: random.Random) -> Plain:
    """A change of a status: fields of it are absent, null, of another type, or another's."""
    values: list[Any] = [None, "", 7, [], {}, "x", ["x"], *others]
    change: Plain = {}
    for field in {*status, "duplicates", "operation", "clusterID", "created"}:
        match random.randrange(6):
            case 0:
                change[field] = None
            case 1:
                change[field] = random.choice(values)
            case 2:
                change[field] = deepcopy(other.get(field))
    if random.random() < 0.5:
        change["operation"] = {
            "type": random.choice(["Create", "Update", "Reconfigure", "Delete"]),
            "phase": random.choice(["Prepared", "Submitted", "Verifying", "Waiting"]),
            "token": random.choice(["", *others]),
            "attempt": random.randrange(3),
            "lastAttemptAt": random.choice([None, "2020-01-01T00:00:00Z"]),
        }
    if random.random() < 0.5:
        change["clusterID"] = random.choice([None, "", *others])
    if random.random() < 0.3:
        change["duplicates"] = random.sample(others, len(others))
    return change


async def document_of(testbed: InfraTestbed, name: str) -> Plain:
    answer = await testbed.cluster.client.raw("GET", f"{PATH}/{name}")
    found: Plain = msgspec.json.decode(answer)
    return found


@pytest.mark.parametrize("first", range(0, SEEDS, 10))
async def test_whatever_stands_in_a_status_only_its_own_infrastructure_is_called_for(
    testbed: InfraTestbed, first: int
) -> None:
    await testbed.everything()
    other = await foreign(testbed)
    await loosen(testbed)
    kept = {"inf-1", other}
    victim = (await document_of(testbed, "one"))["status"]
    for seed in range(first, first + 10):
        name, chance = f"n{seed}", random.Random(seed)
        await testbed.make(name)
        await testbed.state("ONLINE", name)
        await testbed.crash()
        status = (await document_of(testbed, name))["status"]
        await damage(testbed, name, damaged(status, sorted(kept), victim, chance))
        if chance.random() < 0.7:
            await testbed.cluster.client.raw("DELETE", f"{PATH}/{name}")
        before = {id: each.template for id, each in testbed.model.infrastructures.items()}
        await testbed.start()
        await testbed.cluster.advance(900)
        for id in kept:
            found = testbed.model.infrastructures.get(id)
            assert found is not None, f"seed {seed}: {id} was deleted"
            assert found.template == before[id], f"seed {seed}: {id} was changed"
            assert not found.deleting, f"seed {seed}: {id} is being deleted"
        try:
            rest = await document_of(testbed, name)
        except NotFound:
            continue
        released = {"metadata": {"annotations": {"quintant.dev/release": "true"}}}
        await testbed.merge(f"{PATH}/{name}", released)
        if not rest["metadata"].get("deletionTimestamp"):
            await testbed.cluster.client.raw("DELETE", f"{PATH}/{name}")
        await testbed.cluster.advance(30)


WRONG: tuple[Any, ...] = (None, 7, "x", [], {}, ["x"], {"x": []}, True)
"""What stands in a field instead: nothing, or something of another type."""
CLUSTER_FIELDS = (
    "observedGeneration", "state", "phaseMessage", "scheduledTo", "scheduled", "runningOn",
    "clusterID", "created", "duplicates", "lastAppliedTosca", "lastAppliedRef", "lastAppliedHash",
    "operation", "infrastructure", "kubeconfigSecretRef", "apiServerEndpoint", "nodes",
    "inheritedLabels", "handledRetry", "lastErrors", "conditions",
)  # fmt: skip
NESTED: dict[str, tuple[str, ...]] = {
    "scheduledTo": ("kind", "name"),
    "runningOn": (
        "kind", "name", "uid", "providerKind", "providerName", "providerUID", "endpointHash"
    ),
    "operation": (
        "type", "phase", "token", "hash", "attempt", "startedAt", "lastAttemptAt", "notBefore",
        "progress",
    ),
    "infrastructure": ("state", "lastObserved", "wanted", "vms", "message"),
    "kubeconfigSecretRef": ("name", "key"),
}  # fmt: skip
OPERATION = {
    "type": "Update", "phase": "Prepared", "token": "", "hash": "sha256:x", "attempt": 1,
    "startedAt": "2026-01-01T00:00:00Z", "lastAttemptAt": "2026-01-01T00:00:00Z",
}  # fmt: skip
ANNOTATIONS = ("infrastructure", "retry", "force-delete", "paused")


def every_damage(victim: Plain, others: list[str]) -> list[Plain]:
    """A change of a Cluster per field and value: of its status, or of its annotations."""
    values = (*WRONG, *others)
    changes: list[Plain] = []
    for field in CLUSTER_FIELDS:
        theirs = [deepcopy(victim[field])] if field in victim else []
        changes += [{"status": {field: value}} for value in (*values, *theirs)]
    for field, inner in NESTED.items():
        base = OPERATION if field == "operation" else victim.get(field) or {}
        changes += [
            {"status": {field: {**base, name: value}}} for name in inner for value in values
        ]
    changes += [{"status": {"duplicates": [each]}} for each in others]
    for name in ANNOTATIONS:
        noted = [{f"infra.quintant.dev/{name}": each} for each in ("", "x", "true", *others)]
        changes += [{"metadata": {"annotations": each}} for each in noted]
    return changes


TOGETHER, PARTS = 16, 4 if not os.environ.get("QUINTANT_SOAK") else 40
"""Clusters that are damaged in one life, and lives; each takes its turn of all damages."""


@pytest_asyncio.fixture
async def damaged_testbed() -> AsyncIterator[InfraTestbed]:
    """A testbed in which objects may be left that do not fit their types."""
    async with opened() as found:
        yield found
        assert found.account is not None
        assert not list(found.account.denied())


@pytest.mark.parametrize("part", range(PARTS))
async def test_no_field_of_a_status_and_no_annotation_leads_to_anothers(
    damaged_testbed: InfraTestbed, part: int, capsys: pytest.CaptureFixture[str]
) -> None:
    testbed = damaged_testbed
    await testbed.everything()
    other = await foreign(testbed)
    kept = {id: deepcopy(testbed.model.infrastructures[id].template) for id in ("inf-1", other)}
    victim = (await document_of(testbed, "one"))["status"]
    damages = random.Random(part).sample(every_damage(victim, sorted(kept)), TOGETHER)
    for at in range(TOGETHER):
        await testbed.make(f"n{at}")
    for at in range(TOGETHER):
        await testbed.state("ONLINE", f"n{at}", within=300)
    await testbed.crash()
    await loosen(testbed)
    for at, change in enumerate(damages):
        suffix = "/status" if "status" in change else ""
        await testbed.merge(f"{PATH}/n{at}{suffix}", change)
        if at % 2:
            await testbed.cluster.client.raw("DELETE", f"{PATH}/n{at}")
    await testbed.start()
    await testbed.cluster.advance(900)
    for id, before in kept.items():
        found = testbed.model.infrastructures.get(id)
        assert found is not None, (id, damages)
        assert (found.template, found.deleting) == (before, False), (id, damages)
    found_one = await testbed.get()
    assert found_one.status is not None
    assert found_one.status.state == "ONLINE"
    assert found_one.status.cluster_id == "inf-1"
    # What does not fit its type is not reconciled; nothing else fails.
    failures = [each for each in capsys.readouterr().out.splitlines() if "reconcile failed" in each]
    assert [each for each in failures if "cannot decode" not in each] == []


@pytest.mark.parametrize("seed", range(4 if not os.environ.get("QUINTANT_SOAK") else 100))
async def test_damaged_clouds_and_providers_touch_nothing(
    damaged_testbed: InfraTestbed, seed: int
) -> None:
    testbed = damaged_testbed
    await testbed.everything()
    await testbed.secret("theirs", username="them", password="of theirs")
    kinds = {"clouds": "here", "infrastructureproviders": "im"}
    await loosen(testbed, *kinds)
    before = deepcopy(testbed.model.only().template)
    chance = random.Random(seed)
    for plural, name in kinds.items():
        path = f"/apis/{API_VERSION}/namespaces/default/{plural}/{name}"
        status = msgspec.json.decode(await testbed.cluster.client.raw("GET", path))["status"]
        values: list[Any] = [*WRONG, ["default/theirs"], ["default/theirs", 7], "inf-1"]
        change = {field: chance.choice(values) for field in {*status, "heldSecrets", "clouds"}}
        await testbed.merge(f"{path}/status", {"status": change})
    await testbed.cluster.advance(300)
    await testbed.restart()
    await testbed.cluster.advance(300)
    assert testbed.model.only().template == before
    assert not testbed.model.only().deleting
    theirs = await testbed.cluster.get(Secret, "theirs")
    assert theirs.metadata.finalizers == ()
    assert theirs.metadata.deletion_timestamp is None
    assert testbed.model.creations() == 1


async def test_cluster_that_goes_with_conditions_of_another_type_goes(
    damaged_testbed: InfraTestbed,
) -> None:
    testbed = damaged_testbed
    await testbed.everything()
    await testbed.crash()
    await loosen(testbed)
    await damage(testbed, "one", {"conditions": True})
    await testbed.cluster.client.raw("DELETE", f"{PATH}/one")
    await testbed.start()
    # What is said about it takes the place of what cannot be read.
    await testbed.gone()
    assert testbed.model.running == []
