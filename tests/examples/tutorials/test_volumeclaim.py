"""The volume claim tutorial: a claim of its size and with its labels, whatever goes wrong."""

from __future__ import annotations

from typing import Any

from examples_support import load_example
from quintant import Manager, replace
from quintant.api.core import PersistentVolumeClaim
from quintant.api.events import Event
from quintant.api.quantity import Quantity
from quintant.testing import (
    InProcessCluster,
    Scenario,
    ScenarioWorld,
    explore_scenario,
    kind,
    named,
    reconcile_once,
)

example = load_example("tutorials/volumeclaim/volumeclaim")
Claim, ClaimSpec = example.EphemeralVolumeClaim, example.EphemeralVolumeClaimSpec


def asked(size: str = "1Gi", **labels: str) -> Any:
    return Claim(metadata=named("a", labels=labels), spec=ClaimSpec(size=Quantity(size)))


def storage(claim: PersistentVolumeClaim) -> str:
    return str(claim.spec.resources.requests["storage"])


def test_one_reconcile_applies_a_claim_of_that_size_with_those_labels() -> None:
    claim, status = reconcile_once(example.make_manager(), asked(app="x")).writes
    assert claim.body["spec"]["resources"] == {"requests": {"storage": "1Gi"}}
    assert claim.body["metadata"]["labels"] == {"app": "x"}
    assert status.body["status"] == {"claim": "a"}


async def test_labels_of_the_object_follow_to_the_claim(cluster: InProcessCluster) -> None:
    await cluster.run(example.make_manager())
    await cluster.create(asked(app="x", tier="y"))
    made = await cluster.eventually(Claim, "a", until=lambda it: it.status is not None)
    edited = replace(made, metadata=replace(made.metadata, labels={"app": "z"}))
    await cluster.client.patch(edited, since=made)
    await cluster.eventually(
        PersistentVolumeClaim, "a", until=lambda it: it.metadata.labels == {"app": "z"}
    )


async def test_a_crash_before_the_status_is_made_up_for(cluster: InProcessCluster) -> None:
    doomed = await cluster.run(example.make_manager())
    with cluster.faults.answer(503, when=kind(Claim, sub="status")):
        await cluster.create(asked())
        await cluster.eventually(PersistentVolumeClaim, "a")
        await cluster.crash(doomed)
    await cluster.run(example.make_manager())
    await cluster.eventually(Claim, "a", until=lambda it: it.status is not None)


async def test_a_volume_that_should_shrink_is_told_and_left_alone(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(example.make_manager())
    await cluster.create(asked("2Gi"))
    made = await cluster.eventually(Claim, "a", until=lambda it: it.status is not None)
    await cluster.client.patch(replace(made, spec=ClaimSpec(size=Quantity("1Gi"))), since=made)
    await cluster.advance(5)
    assert storage(await cluster.get(PersistentVolumeClaim, "a")) == "2Gi"
    told = [each.note for each in await cluster.client.list(Event)]
    assert any(note.startswith("the claim cannot be 1Gi") for note in told)


class ClaimLife(Scenario):
    """It is made, gets a label, and goes."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [example.make_manager()]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(asked())
        await world.quiet()
        labelled = named("a", labels={"app": "z"}).labels
        await world.edit(
            Claim, "a", lambda it: replace(it, metadata=replace(it.metadata, labels=labelled))
        )
        await world.quiet()
        await world.delete(Claim, "a")
        await world.quiet()


def test_no_disturbance_of_a_life_can_be_seen_at_its_end() -> None:
    explore_scenario(ClaimLife).check()
