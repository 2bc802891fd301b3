"""Damaged records and statuses: only a pod's own peer is called for it, and nothing else goes."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import msgspec
import pytest

from quintant.api.core import Namespace, Pod
from quintant.core.object import ObjectMeta, replace
from quintant.operators.klight.api import (
    ADDRESS,
    GENERATION,
    GROUP,
    INCARNATION,
    JOINED_AT,
    JOINED_VIA,
    JOINING,
    NETWORK,
    WRITTEN,
    PeerPod,
)
from quintant.operators.klight.api.lightnetwork import (
    LightNetwork,
    LightNetworkSpec,
    LightNetworkStatus,
    NetworkPeer,
)
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import object_name
from quintant.testing import kind, writes
from testbeds.klight import NET, KlightTestbed

ELSEWHERE = "127.0.0.1:1"
"""An address that no pod has."""
DAMAGE: dict[str, tuple[str | None, ...]] = {
    NETWORK: (None, "", "/", "a", "other/a", "*/a", "default/b", "x" * 10_000),
    INCARNATION: (None, "", "another", "x" * 10_000),
    ADDRESS: (None, "", ELSEWHERE, ":", "x" * 10_000),
    JOINED_AT: (None, "", "yesterday", "2026-01-01", "2026-01-01T00:00:00",
                "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00+23:59", "9" * 5_000),
    JOINED_VIA: (None, "", ELSEWHERE),
    GENERATION: (None, "", "-1", "1e9", "9" * 5_000, str(2**63)),
    JOINING: ("", ELSEWHERE, f"{ELSEWHERE} another", " "),
}  # fmt: skip
CASES = [(key, value) for key, values in DAMAGE.items() for value in values]


async def damage(testbed: KlightTestbed, name: str, **annotations: str | None) -> None:
    pod = await testbed.cluster.get(Pod, name)
    merged = {**pod.metadata.annotations, **annotations}
    kept = {key: value for key, value in merged.items() if value is not None}
    changed = replace(pod, metadata=replace(pod.metadata, annotations=kept))
    await testbed.cluster.client.patch(changed, since=pod)


async def own_addresses(testbed: KlightTestbed) -> set[str]:
    pods = await testbed.cluster.client.list(PeerPod)
    return {await testbed.address(pod.metadata.name, pod.metadata.namespace) for pod in pods}


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize(("key", "value"), CASES)
async def test_a_damaged_record_calls_nobody_else_and_heals(
    testbed: KlightTestbed, key: str, value: str | None, restart: bool
) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    before = len(testbed.peers.calls)
    others = [(await testbed.cluster.get(Pod, name)).metadata.annotations for name in ("p1", "p3")]
    await damage(testbed, "p2", **{key: value})
    if restart:
        await testbed.restart()
    await testbed.cluster.advance(120)
    await testbed.pod("p4", peer={})
    await testbed.cluster.advance(60)
    own = await own_addresses(testbed)
    for call in testbed.peers.calls[before:]:
        assert {call.address, call.contact} <= {*own, ""}
    assert sorted(await testbed.stack()) == ["p1", "p2", "p3", "p4"]
    now = [(await testbed.cluster.get(Pod, name)).metadata.annotations for name in ("p1", "p3")]
    assert now == others


@pytest.mark.parametrize("address", [ELSEWHERE, "victim"])
async def test_a_forged_address_has_no_other_peer_leave(
    testbed: KlightTestbed, address: str
) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    victim = await testbed.address("p1") if address == "victim" else address
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    before = len(testbed.peers.calls)
    await damage(testbed, "p2", **{ADDRESS: victim})
    await testbed.label("p2", None)
    await testbed.start()
    await testbed.cluster.advance(120)
    left = {each.address for each in testbed.peers.calls[before:] if each.method == "leave"}
    assert left <= {await testbed.address("p2")}
    left_over = (await testbed.cluster.get(Pod, "p2")).metadata.annotations
    assert not left_over.keys() & set(WRITTEN)
    assert await testbed.address("p1") in testbed.peers.models[await testbed.address("p3")].view


async def test_a_record_of_another_namespaces_network_shows_nothing_there(
    testbed: KlightTestbed,
) -> None:
    await testbed.cluster.client.create(Namespace(metadata=ObjectMeta(name="other")))
    await testbed.start()
    await testbed.add("p1", "p2")
    await damage(testbed, "p2", **{NETWORK: "other/secret"})
    await testbed.cluster.advance(60)
    written = testbed.cluster.faults.seen(kind(LightNetwork, namespace="other") & writes)
    assert not written
    assert await testbed.stack() == ["p2", "p1"]


async def test_a_namesake_that_shows_another_network_is_not_removed(
    testbed: KlightTestbed,
) -> None:
    testbed.options = Options(gc_after=5)
    await testbed.cluster.install(LightNetwork)
    meta = ObjectMeta(name=object_name(NET), namespace="default")
    made = await testbed.cluster.client.create(
        LightNetwork(metadata=meta, spec=LightNetworkSpec(network_id="b", paused=True))
    )
    await testbed.start()
    await testbed.add("p1", "p2")
    await testbed.delete("p1")
    await testbed.delete("p2")
    await testbed.cluster.advance(120)
    found = await testbed.cluster.client.find(LightNetwork, object_name(NET), "default")
    assert found is not None
    assert found.metadata.uid == made.metadata.uid


@pytest.mark.parametrize(
    "peer",
    [
        {"pod": "other/own", "uid": "same"},
        {"pod": "other/own", "uid": "another"},
        {"pod": "", "uid": ""},
        {"pod": "///", "uid": "x"},
        {"pod": "x" * 5_000, "uid": "y", "address": ELSEWHERE, "joinedVia": ELSEWHERE},
    ],
    ids=lambda peer: f"{peer['pod'][:9]}-{peer['uid']}",
)
async def test_a_status_that_lists_another_pod_changes_nothing_of_it(
    testbed: KlightTestbed, peer: dict[str, Any]
) -> None:
    await testbed.cluster.client.create(Namespace(metadata=ObjectMeta(name="other")))
    await testbed.pod("own", None, namespace="other", annotations={INCARNATION: "kept"})
    other = await testbed.cluster.client.get(Pod, "own", "other")
    await testbed.start()
    await testbed.add("p1", "p2")
    shown = await testbed.shown()
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    uid = other.metadata.uid if peer["uid"] == "same" else peer["uid"]
    damaged = LightNetworkStatus(peers=(NetworkPeer(pod=peer["pod"], uid=uid),), height=2**62)
    await testbed.cluster.client.patch(replace(shown, status=damaged), since=shown, sub="status")
    before = len(testbed.peers.calls)
    await testbed.start()
    await testbed.cluster.advance(60)
    found = await testbed.cluster.client.get(Pod, "own", "other")
    assert found.metadata.resource_version == other.metadata.resource_version
    assert {call.method for call in testbed.peers.calls[before:]} <= {"check", "status"}
    assert await testbed.stack() == ["p2", "p1"]


SEEDS = 40 if not os.environ.get("QUINTANT_SOAK") else 1000
TOGETHER = 10
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/lightnetworks." + GROUP
FIELDS = ("observedGeneration", "phase", "members", "ready", "pending", "down", "contact", "stack",
          "headID", "height", "lastJoin", "repairHandled", "peers", "conditions")  # fmt: skip
WRONG: tuple[Any, ...] = (
    None, "", 7, -1, 2**62, True, [], {}, "x", ["x"], [{}], {"x": None}, [None], ELSEWHERE,
    [ELSEWHERE] * 60, "9999-99-99", "Empty", [{"pod": "p1", "uid": "x", "address": ELSEWHERE}],
    [{"type": "Writable", "status": "True", "reason": "x", "message": "x"}] * 2,
    [{"type": "Ready", "status": 7, "lastTransitionTime": "now"}],
)  # fmt: skip


async def loosen(testbed: KlightTestbed) -> None:
    """Let everything be written, as an older definition or a careless restore would."""
    definition = msgspec.json.decode(await testbed.cluster.client.raw("GET", DEFINITION))
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    for version in definition["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"]["properties"]["status"] = schema
    await testbed.cluster.client.raw("PUT", DEFINITION, body=msgspec.json.encode(definition))


async def write_status(testbed: KlightTestbed, path: str, change: dict[str, Any]) -> None:
    body, kind = msgspec.json.encode({"status": change}), "application/merge-patch+json"
    headers = {"Content-Type": kind}
    await testbed.cluster.client.raw("PATCH", f"{path}/status", body=body, headers=headers)


@pytest.mark.parametrize("first", range(0, SEEDS, TOGETHER))
async def test_a_damaged_status_calls_and_moves_nobody(testbed: KlightTestbed, first: int) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    name = (await testbed.shown()).metadata.name
    await loosen(testbed)
    path = f"/apis/{GROUP}/v1alpha1/namespaces/default/lightnetworks/{name}"
    own, before = await own_addresses(testbed), len(testbed.peers.calls)
    pods = [(await testbed.cluster.get(Pod, each)).metadata for each in ("p1", "p2", "p3")]
    for seed in range(first, first + TOGETHER):
        chance = Random(seed)
        chosen = chance.sample(FIELDS, chance.choice((1, 2, 5)))
        await write_status(testbed, path, {each: chance.choice(WRONG) for each in chosen})
        if chance.random() < 0.5:
            await testbed.restart()
        await testbed.cluster.advance(60)
        await write_status(testbed, path, dict.fromkeys(FIELDS))
        await testbed.cluster.advance(30)
        status = (await testbed.shown()).status
        assert status is not None
        assert (status.phase, status.members, status.ready) == ("Ready", 3, 3), f"seed {seed}"
    now = [(await testbed.cluster.get(Pod, each)).metadata for each in ("p1", "p2", "p3")]
    assert [each.annotations for each in now] == [each.annotations for each in pods]
    for call in testbed.peers.calls[before:]:
        assert {call.address, call.contact} <= {*own, ""}
        assert call.method not in ("join", "leave")
