"""Whatever stands in a status, or in what we noted on our objects: what is not ours stays.

Ours comes back: one device, its Deployment where it can run, and a status that is true. A status of
the wrong type is left to a person, and says so in the log.
"""

from __future__ import annotations

import os
from contextlib import suppress
from random import Random
from typing import Any

import msgspec

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Pod, Service
from quintant.core.errors import Invalid
from quintant.core.object import Object
from quintant.operators.shifu.api.names import GROUP
from quintant.testing import kind, writes
from testbeds.shifu import DEVICES, SHIFUS, ShifuTestbed

SEEDS = 12 if not os.environ.get("QUINTANT_SOAK") else 1000
ROOT = f"/apis/{GROUP}/v1alpha1"
PATHS = {
    "edgedevices": f"{ROOT}/namespaces/{DEVICES}/edgedevices/one",
    "telemetryservices": f"{ROOT}/namespaces/{DEVICES}/telemetryservices/sink",
    "edgenodes": f"{ROOT}/edgenodes/n1",
}
CHILDREN = {
    "deployments": f"/apis/apps/v1/namespaces/{SHIFUS}/deployments/deviceshifu-one",
    "services": f"/api/v1/namespaces/{SHIFUS}/services/deviceshifu-one",
    "configmaps": f"/api/v1/namespaces/{SHIFUS}/configmaps/deviceshifu-one-config",
}
FIELDS = {
    "edgedevices": (
        "edgedevicephase", "observedGeneration", "specHash", "placement", "deviceShifu",
        "telemetry", "busy", "unreportedMoves", "conditions",
    ),
    "telemetryservices": ("telemetryservicephase",),
    "edgenodes": (
        "phase", "capacity", "allocatable", "free", "used", "deviceShifus", "devices", "addresses",
        "location", "lastHeartbeat", "conditions",
    ),
}  # fmt: skip
NOTES = (
    "placed-node", "placed-at", "placed-for", "placement-kind", "placement-reason", "moves",
    "previous-node", "config-hash",
)  # fmt: skip
OTHERS: tuple[Any, ...] = (
    "two", "deviceshifu-two", "deviceshifu-two-config", "theirs", "n2",
    {"deployment": "deviceshifu-two", "service": "theirs", "configMap": "theirs", "managed": True},
    {"nodeName": "n2", "kind": "Adopted", "since": "2026-01-01T00:00:00Z", "moves": 7},
    {"nodeName": "gone", "previousNode": "n1", "kind": "Pinned", "since": "9999-01-01T00:00:00Z"},
    [{"type": "Scheduled", "status": "False", "reason": "Settling", "message": "",
      "lastTransitionTime": "9998-01-01T00:00:00Z"}],
    [{"type": "DeviceShifuReady", "status": "True", "reason": "x", "message": "",
      "lastTransitionTime": "yesterday"}],
    ["devices/two", "deviceshifu/theirs"], {"memoryBytes": 2**62, "observedAt": "now"},
)  # fmt: skip
WRONG: tuple[Any, ...] = (
    None, "", 7, -1, 2**63 - 1, True, [], {}, "x", ["x"], [{}], {"x": None}, {"nodeName": 7},
    {"since": "2026-99-99T99:99:99Z"}, "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "Unknown",
    [{"type": "DeviceReachable", "lastTransitionTime": "2026-01-01"}], {"moves": -1}, "x" * 5_000,
)  # fmt: skip
TEXTS = (
    None, "", "x", "-1", "9" * 50, "n2", "n1", "gone", "two", "2026-01-01", "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z", "Adopted", "Pinned",
)  # fmt: skip


async def loosen(testbed: ShifuTestbed) -> None:
    """Let everything be written, as an older definition or a careless restore would."""
    for plural in FIELDS:
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.{GROUP}"
        definition = msgspec.json.decode(await testbed.client.raw("GET", path))
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        for version in definition["spec"]["versions"]:
            version["schema"]["openAPIV3Schema"]["properties"]["status"] = schema
        await testbed.client.raw("PUT", path, body=msgspec.json.encode(definition))


async def strangers(testbed: ShifuTestbed) -> set[tuple[str, str]]:
    """What is not of `one`: the whole of another device, and what users made; by uid."""
    found = set()
    kinds: tuple[type[Object], ...] = (Deployment, Service, ConfigMap, Pod)
    for each in kinds:
        for held in await testbed.client.list(each, SHIFUS):
            if not held.metadata.name.startswith("deviceshifu-one"):
                found.add((f"{each.__name__}/{held.metadata.name}", held.metadata.uid))
    return found


async def theirs(testbed: ShifuTestbed) -> None:
    """A Service, a ConfigMap and a Deployment that somebody made by hand."""
    port, labels = {"name": "http", "port": 80}, {"app": "theirs"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "i"}]}}
    meta = {"name": "theirs", "namespace": SHIFUS}
    await testbed.apply(
        {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"ports": [port]}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"instructions": ""}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
         "spec": {"selector": {"matchLabels": labels}, "template": pod}},
        {"apiVersion": f"{GROUP}/v1alpha1", "kind": "TelemetryService", "spec": {},
         "metadata": {"name": "sink", "namespace": DEVICES}},
    )  # fmt: skip


async def damage(testbed: ShifuTestbed, chance: Random) -> None:
    """Change some fields of the statuses, and what is noted on a child of `one`."""
    for plural, fields in FIELDS.items():
        chosen = chance.sample(fields, min(len(fields), chance.choice((1, 2, 4))))
        change = {each: chance.choice((*WRONG, *OTHERS)) for each in chosen}
        with suppress(Invalid):  # what the server itself reads of a status, it looks at
            await testbed.merge(f"{PATHS[plural]}/status", {"status": change})
    notes = {f"{GROUP}/{each}": chance.choice(TEXTS) for each in chance.sample(NOTES, 2)}
    child = CHILDREN[chance.choice(list(CHILDREN))]
    await testbed.merge(child, {"metadata": {"annotations": notes}})


async def test_damaged_statuses_take_nothing_away_that_is_not_ours(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1", "n2")
    await theirs(testbed)
    for name in ("one", "two"):
        await testbed.device(name)
        await testbed.placed(name)
    await loosen(testbed)
    await testbed.cluster.advance(30)
    before, seen = await strangers(testbed), testbed.cluster.faults.seen
    for seed in range(SEEDS):
        count = len(seen(writes & kind(Deployment)))
        await damage(testbed, Random(seed))
        await testbed.cluster.advance(60)
        assert await strangers(testbed) == before, f"seed {seed}"
        assert len(seen(writes & kind(Deployment))) - count <= 20, f"seed {seed}"
        for plural, fields in FIELDS.items():
            await testbed.merge(f"{PATHS[plural]}/status", {"status": dict.fromkeys(fields)})
        await testbed.cluster.advance(20)
        found = await testbed.placed("one", within=60)
        assert found.status is not None
        assert found.status.placement is not None, f"seed {seed}"
        assert (await testbed.where()).get("one") == found.status.placement.node_name


async def test_a_copy_that_a_user_made_of_our_objects_is_the_users(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.device("one")
    await testbed.placed("one")
    for path in CHILDREN.values():
        copied = msgspec.json.decode(await testbed.client.raw("GET", path))
        meta = copied["metadata"]
        kept = {each: meta.get(each, {}) for each in ("labels", "annotations")}
        copied["metadata"] = {"name": f"{meta['name']}-copy", "namespace": SHIFUS, **kept}
        copied.pop("status", None)
        for each in ("clusterIP", "clusterIPs"):
            copied.get("spec", {}).pop(each, None)
        body = msgspec.json.encode(copied)
        await testbed.client.raw("POST", path.rpartition("/")[0], body=body)
    await testbed.cluster.advance(10)
    await testbed.client.delete(await testbed.get("one"))
    await testbed.cluster.advance(30)
    assert await testbed.children() == {
        "Deployment": ["deviceshifu-one-copy"],
        "Service": ["deviceshifu-one-copy"],
        "ConfigMap": ["deviceshifu-one-config-copy"],
    }
