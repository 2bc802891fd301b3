"""Whatever stands in a status or an annotation: what is not ours stays, and ours comes back.

A status of the wrong type is left to a person, and says so in the log.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import zip_longest
from random import Random
from typing import Any, get_args

import msgspec

from quintant.api.core import ConfigMap, Pod, Service
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.errors import Invalid
from quintant.core.object import Object
from quintant.core.owner import controller_of
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    LastSnapshot,
    SnapshotPhase,
    SnapshotScheduleStatus,
    SnapshotTarget,
)
from quintant.operators.cosmos.api.stateful_job import StatefulJobStatus
from quintant.operators.cosmos.api.status import FullNodeStatus, SelfHealingStatus
from testbeds.cosmos import NAMESPACE, CosmosTestbed

SEEDS = 25 if not os.environ.get("QUINTANT_SOAK") else 1000
ROOT = "/apis/cosmos.strange.love"
PATHS = {
    "cosmosfullnodes": f"{ROOT}/v1/namespaces/{NAMESPACE}/cosmosfullnodes/hub",
    "scheduledvolumesnapshots": f"{ROOT}/v1alpha1/namespaces/{NAMESPACE}/"
    "scheduledvolumesnapshots/hourly",
    "statefuljobs": f"{ROOT}/v1alpha1/namespaces/{NAMESPACE}/statefuljobs/job",
}
KINDS: tuple[type[Object], ...] = (Pod, ConfigMap, Service, PersistentVolumeClaim, VolumeSnapshot)
OTHERS: tuple[Any, ...] = (
    "two-0", "pvc-two-0", "theirs", "hub-1", {"podCandidate": "two-0"}, {"two-0": 7},
    {"podName": "two-0", "pvcName": "pvc-two-0", "podLabels": {}},
    {"name": "theirs", "startedAt": "2026-01-01T00:00:00Z"}, "DeletingPod", "RestoringPod",
    "WaitingForSnapshotCreation", "CreatingSnapshot", "WaitingForPodDeletion",
)  # fmt: skip
WRONG: tuple[Any, ...] = (
    None, "", 7, -1, 2**63 - 1, True, [], {}, "x", ["x"], [{}], {"x": None}, {"hub-0": "x"},
    {"hub-0": -1}, {"hub-0": {}}, "2026-99-99T99:99:99Z", "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z", {"hub-0": {"height": 2**62, "name": "v2"}},
    {"hub-0": {"timestamp": "x", "height": 1}}, {"hub-0": "9999-12-31T23:59:59Z"},
)  # fmt: skip


def names(model: Any) -> tuple[str, ...]:
    """The fields of a status as they are written."""
    return tuple(each.encode_name for each in msgspec.structs.fields(model))


FIELDS = {
    "cosmosfullnodes": names(FullNodeStatus),
    "scheduledvolumesnapshots": names(SnapshotScheduleStatus),
    "statefuljobs": names(StatefulJobStatus),
}
INNER = {
    "cosmosfullnodes": tuple(f"selfHealing/{each}" for each in names(SelfHealingStatus)),
    "scheduledvolumesnapshots": (
        *(f"candidate/{each}" for each in names(SnapshotTarget)),
        *(f"lastSnapshot/{each}" for each in names(LastSnapshot)),
    ),
    "statefuljobs": ("jobHistory/0",),
}
"""Fields below those; a status that has no such part is left as it is."""
SCHEDULE: dict[str, Any] = {
    "apiVersion": "cosmos.strange.love/v1alpha1", "kind": "ScheduledVolumeSnapshot",
    "metadata": {"name": "hourly", "namespace": NAMESPACE},
    "spec": {
        "fullNodeRef": {"name": "hub"}, "schedule": "*/5 * * * *", "deletePod": True,
        "volumeSnapshotClassName": "standard", "minAvailable": 1, "limit": 2,
    },
}  # fmt: skip
JOB = {
    "apiVersion": "cosmos.strange.love/v1alpha1", "kind": "StatefulJob",
    "metadata": {"name": "job", "namespace": NAMESPACE},
    "spec": {
        "selector": {"app.kubernetes.io/name": "hub"}, "interval": "10m",
        "podTemplate": {"spec": {"containers": [{"name": "a", "image": "i"}]}},
        "volumeClaimTemplate": {"storageClassName": "standard"},
    },
}  # fmt: skip


async def loosen(testbed: CosmosTestbed) -> None:
    """Let everything be written, as an older definition or a careless restore would."""
    for plural in FIELDS:
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}"
        path += ".cosmos.strange.love"
        definition = msgspec.json.decode(await testbed.cluster.client.raw("GET", path))
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        for version in definition["spec"]["versions"]:
            version["schema"]["openAPIV3Schema"]["properties"]["status"] = schema
        await testbed.cluster.client.raw("PUT", path, body=msgspec.json.encode(definition))


async def strangers(testbed: CosmosTestbed, hub: str) -> set[tuple[str, str]]:
    """What is not of hub: the whole of another CosmosFullNode, and what nobody made; by uid."""
    found = set()
    for kind in KINDS:
        for each in await testbed.cluster.client.list(kind, NAMESPACE):
            held, name = controller_of(each), each.metadata.name
            ours = held is not None and held.uid == hub
            if not ours and not name.startswith(("hourly-", "job")):
                found.add((f"{kind.__name__}/{name}", each.metadata.uid))
    return found


async def theirs(testbed: CosmosTestbed) -> None:
    """A claim and a copy that somebody made by hand."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    core, copies = "/api/v1", "/apis/snapshot.storage.k8s.io/v1"
    for path, body in (
        (f"{core}/namespaces/{NAMESPACE}/persistentvolumeclaims", {"spec": spec}),
        (f"{core}/namespaces/{NAMESPACE}/configmaps", {}),
        (f"{copies}/namespaces/{NAMESPACE}/volumesnapshots",
         {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
          "spec": {"source": {"persistentVolumeClaimName": "theirs"}}}),
    ):  # fmt: skip
        whole = {"metadata": {"name": "theirs"}, **body}
        await testbed.cluster.client.raw("POST", path, body=msgspec.json.encode(whole))


async def damage(testbed: CosmosTestbed, chance: Random) -> None:
    """Change some fields of the statuses of all three kinds, and an annotation of a child."""
    for plural, fields in FIELDS.items():
        chosen = chance.sample(fields, chance.choice((1, 2, 4)))
        change = {each: chance.choice((*WRONG, *OTHERS)) for each in chosen}
        with suppress(Invalid):  # what the server itself reads of a status, it looks at
            await testbed.merge(f"{PATHS[plural]}/status", {"status": change})
    value = chance.choice((None, "", "x", "-1", "9" * 50, "two-0"))
    key = chance.choice(("app.kubernetes.io/ordinal", "cosmos.strange.love/config-checksum"))
    kind = chance.choice(("pods/hub-0", "persistentvolumeclaims/pvc-hub-0", "configmaps/hub-0"))
    if kind == "pods/hub-0" and "hub-0" not in await testbed.pods():
        return
    path = f"/api/v1/namespaces/{NAMESPACE}/{kind}"
    await testbed.merge(path, {"metadata": {"annotations": {key: value}}})


async def test_damaged_statuses_take_nothing_away_that_is_not_ours(testbed: CosmosTestbed) -> None:
    await testbed.run(name="two", replicas=1)
    await testbed.run(replicas=2)
    await theirs(testbed)
    await loosen(testbed)
    await testbed.apply(SCHEDULE)
    await testbed.apply(JOB)
    await testbed.cluster.advance(30)
    hub = (await testbed.full_node()).metadata.uid
    before = await strangers(testbed, hub)
    for seed in range(SEEDS):
        await damage(testbed, Random(seed))
        await testbed.cluster.advance(60)
        assert await strangers(testbed, hub) == before, f"seed {seed}"
        for plural, fields in FIELDS.items():
            await testbed.merge(f"{PATHS[plural]}/status", {"status": dict.fromkeys(fields)})
        await testbed.cluster.advance(10)
    await testbed.settled()


ABSENT: dict[str, Any] = {"op": "remove"}
TYPES: tuple[Any, ...] = (None, 7, "x", ["x"], {"x": {}})
"""A null, and a value of every type: whichever type a field has, three of them are wrong."""
TARGET = {"podName": "two-0", "pvcName": "pvc-two-0", "podLabels": {}}
COPY = {"name": "theirs", "startedAt": "2026-01-01T00:00:00Z"}
HOURLY = f"{NAMESPACE}.hourly.v1alpha1.cosmos.strange.love"
OF_OTHERS: dict[str, tuple[Any, ...]] = {
    "scheduledSnapshotStatus": tuple({HOURLY: {"podCandidate": name}} for name in
                                     ("two-0", "theirs", "hub-7")),
    "selfHealing": tuple({part: dict.fromkeys(("two-0", "pvc-two-0", "theirs"), value)}
                         for part, value in (
        ("pvcAutoScaler", {"requestedSize": "1Ti", "requestedAt": "2026-01-01T00:00:00Z"}),
        ("restartedAt", "2026-01-01T00:00:00Z"), ("rebuiltAt", "2026-01-01T00:00:00Z"))),
    "sync": ({"two-0": {"timestamp": "2026-01-01T00:00:00Z", "height": 1, "inSync": True}},),
    "height": ({"two-0": 1, "theirs": 5},),
    "upgradeInfo": ({"two-0": {"height": 5, "name": "v2"}},),
    "selector": ("app.kubernetes.io/name=two",),
    "candidate": (TARGET, {**TARGET, "podName": "theirs", "pvcName": "theirs"}),
    "lastSnapshot": (COPY, {**COPY, "status": {"readyToUse": True}}),
    "jobHistory": ([{"active": 1, "startTime": "2026-01-01T00:00:00Z"}],),
}  # fmt: skip
WHOLE = {
    "scheduledvolumesnapshots": [
        {"phase": phase, "candidate": TARGET, "lastSnapshot": copy,
         "createdAt": "2026-01-01T00:00:00Z"}
        for phase in get_args(SnapshotPhase)
        for copy in (COPY, {"name": "hourly-202601010000", "startedAt": "2029-01-01T00:00:00Z"})
    ],
}  # fmt: skip
"""Statuses that are another's from end to end: in every phase a candidate that is not ours."""


def damages(plural: str) -> Iterator[dict[str, Any]]:
    """Every field absent, null, of every wrong type, and another object's: as JSON patches."""
    for field in (*FIELDS[plural], *INNER[plural]):
        path = f"/status/{field}"
        yield {**ABSENT, "path": path}
        for value in (*TYPES, *OF_OTHERS.get(field, ("two-0",))):
            yield {"op": "add", "path": path, "value": value}
    for status in WHOLE.get(plural, []):
        yield {"op": "add", "path": "/status", "value": status}


async def uids(testbed: CosmosTestbed) -> dict[str, str]:
    """The claims that there are: whatever a status says, no data go."""
    claims = await testbed.cluster.client.list(PersistentVolumeClaim, NAMESPACE)
    kept = [each for each in claims if not each.metadata.name.startswith("job")]
    return {each.metadata.name: each.metadata.uid for each in kept}


async def copied(testbed: CosmosTestbed) -> set[str | None]:
    """The claims of which there are copies."""
    copies = await testbed.cluster.client.list(VolumeSnapshot, NAMESPACE)
    return {each.spec.source.persistent_volume_claim_name for each in copies}


async def test_no_field_of_a_status_is_believed_about_what_is_not_ours(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(name="two", replicas=1)
    await testbed.run(replicas=2)
    await theirs(testbed)
    await loosen(testbed)
    await testbed.apply(SCHEDULE)
    await testbed.apply(JOB)
    await testbed.cluster.advance(310)  # a copy was made, and a job ran on it
    hub = (await testbed.full_node()).metadata.uid
    before, volumes = await strangers(testbed, hub), await uids(testbed)
    for step in zip_longest(*(tuple(damages(plural)) for plural in FIELDS)):
        for plural, change in zip(FIELDS, step, strict=True):
            with suppress(Invalid):  # a field that is not there cannot be removed
                if change is not None:
                    await testbed.merge(f"{PATHS[plural]}/status", [change], "json")
        await testbed.cluster.advance(12)
        assert await strangers(testbed, hub) == before, step
        assert await uids(testbed) == volumes, step
        assert await copied(testbed) <= {"pvc-hub-0", "pvc-hub-1", "theirs"}, step
        for plural, change in zip(FIELDS, step, strict=True):
            if change is not None:
                good = {"op": "add", "path": "/status", "value": {}}
                await testbed.merge(f"{PATHS[plural]}/status", [good], "json")
        await testbed.cluster.advance(3)
    await testbed.settled()


async def test_a_schedule_of_another_cosmos_full_node_keeps_no_pod_away(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(name="two", replicas=2)
    await testbed.run(replicas=2)
    yearly = {**SCHEDULE["spec"], "fullNodeRef": {"name": "two"}, "schedule": "0 0 1 1 *"}
    await testbed.apply({**SCHEDULE, "spec": yearly})
    held = {"scheduledSnapshotStatus": {HOURLY: {"podCandidate": "hub-0"}}}
    await testbed.merge(f"{PATHS['cosmosfullnodes']}/status", {"status": held})
    await testbed.cluster.advance(60)
    assert testbed.deleted == []
    await testbed.settled()
