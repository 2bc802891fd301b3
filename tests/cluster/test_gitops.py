"""kstatus itself judges what operators say of their samples, from the first moment to the last."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from cluster.broken import BROKEN, broken_objects
from cluster.history import ObjectKey, Plain, by_object, judged_paths, recorded
from cluster.user import User
from foreign.errors import announce
from gitops.verdicts import Verdict, judged
from realcluster.cluster import RealCluster
from realcluster.samples import Outcome

WELL = Verdict("Current", "Healthy")
MAIN_KINDS = {"CosmosFullNode", "Cluster", "LightNetwork", "PortalExpose", "EdgeDevice"}
"""Of each operator, the kind whose objects take a while."""
VERDICT_SECONDS = 60.0


@pytest.fixture(scope="session")
def judge(cluster: RealCluster) -> Path:
    """The program with kstatus."""
    return cluster.control_plane.programs.judge


def test_every_object_of_the_samples_is_current_in_the_end(
    user: User, judge: Path, samples: Mapping[str, Outcome]
) -> None:
    verdicts: dict[ObjectKey, Verdict] = {}

    async def all_well() -> bool:
        verdicts.update(await current_verdicts(user, judge))
        return set(verdicts.values()) == {WELL}

    try:
        asyncio.run(user.patiently(user.until(all_well), VERDICT_SECONDS))
    finally:
        announce(f"kstatus of {len(verdicts)} objects: {wrong(verdicts) or 'all Current'}")
    assert {kind for kind, _ in verdicts} >= MAIN_KINDS


def test_every_object_that_takes_a_while_was_in_progress_until_it_was_current(
    judge: Path, samples: Mapping[str, Outcome], history: list[Plain]
) -> None:
    sequences = {
        key: [each.kstatus for each in judged(judge, _with_status(versions))]
        for key, versions in by_object(history).items()
        if key[0] in MAIN_KINDS
    }
    assert {kind for kind, _ in sequences} == MAIN_KINDS
    assert {key: words[0] for key, words in sequences.items()} == dict.fromkeys(
        sequences, "InProgress"
    )
    assert {key for key, words in sequences.items() if "Failed" in words} == set()


def test_what_cannot_come_true_has_failed_and_says_so_to_kstatus(
    user: User, judge: Path, samples: Mapping[str, Outcome]
) -> None:
    versions: list[Plain] = []
    objects = list(broken_objects())
    kinds = {each["kind"] for each in objects} & MAIN_KINDS

    async def all_failed() -> bool:
        found = await current_verdicts(user, judge)
        failed = {key for key, verdict in found.items() if verdict.kstatus == "Failed"}
        return failed == {(kind, BROKEN) for kind in kinds}

    async def broken_and_removed() -> None:
        await user.kubectl.apply(objects)
        await user.patiently(user.until(all_failed), VERDICT_SECONDS)
        async with recorded(user.kubectl.kubeconfig, versions):
            listed = {"apiVersion": "v1", "kind": "List", "items": objects}
            await user.kubectl("delete", "--filename=-", stdin=json.dumps(listed))

    asyncio.run(broken_and_removed())
    going = [each for each in versions if "deletionTimestamp" in each["metadata"]]
    assert {each.kstatus for each in judged(judge, going)} <= {"Terminating"}


async def current_verdicts(user: User, judge: Path) -> dict[ObjectKey, Verdict]:
    """What is said of every object that is there."""
    objects: list[Plain] = []
    for path in judged_paths():
        found = await user.kubectl.raw(path)
        objects += [
            {"apiVersion": found["apiVersion"], "kind": found["kind"].removesuffix("List"), **each}
            for each in found["items"]
        ]
    keys = [(each["kind"], each["metadata"]["name"]) for each in objects]
    return dict(zip(keys, judged(judge, objects), strict=True))


def wrong(verdicts: Mapping[ObjectKey, Verdict]) -> dict[ObjectKey, Verdict]:
    """Those that are not well."""
    return {key: each for key, each in verdicts.items() if each != WELL}


def _with_status(versions: Iterable[Plain]) -> list[Plain]:
    # To kstatus, what has no status at all is current: docs/gitops.md.
    return [each for each in versions if each.get("status")]
