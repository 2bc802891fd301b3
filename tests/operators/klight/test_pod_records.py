"""The records on pods: written without a right to change pods, over those of any version."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from quintant.api.core import Pod
from quintant.client.rest import MERGE, Rest
from quintant.core import codec
from quintant.core.errors import Forbidden
from quintant.core.object import ObjectMeta
from quintant.operators.klight.api import NETWORK, WRITTEN, PeerPod
from quintant.runtime.cache.client import Client
from quintant.testing import InProcessCluster, grant, kind, writes
from testbeds.klight import GATE, KlightTestbed, manager_with

MANAGER = "klight"
"""The field manager of every version; up to 0.1.0 it applied records to the pods themselves."""
POD_PATH = "/api/v1/namespaces/default/pods/p1"
STOLEN = {"spec": {"containers": [{"name": "lightpeer", "image": "stolen"}]}}


@pytest.fixture
async def guarded() -> AsyncIterator[InProcessCluster]:
    cluster = InProcessCluster(rbac=True)
    yield cluster
    await cluster.close()


async def test_a_stolen_token_swaps_no_image(guarded: InProcessCluster) -> None:
    testbed = KlightTestbed(guarded)
    account = await grant(guarded, manager_with(testbed.peers))
    await testbed.pod("p1", peer={})
    thief = Client(Rest(guarded.environment(account.credentials).transport))
    pod = await guarded.get(Pod, "p1")
    body, headers = codec.encode(STOLEN), {"content-type": MERGE}
    with pytest.raises(Forbidden):
        await thief.raw("PATCH", POD_PATH, body=body, headers=headers)
    await thief.raw("PATCH", f"{POD_PATH}/status", body=body, headers=headers)
    assert (await guarded.get(Pod, "p1")).spec == pod.spec


async def test_records_are_written_through_the_status_alone(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", spec=GATE)
    await testbed.label("p2", None)
    await testbed.cluster.advance(30)
    sent = testbed.cluster.faults.seen(kind(Pod) & writes)
    ours = {each.call.path for each in sent if each.call.query.get("fieldManager") == MANAGER}
    assert ours == {f"/api/v1/namespaces/default/pods/{name}/status" for name in ("p1", "p2")}


async def start_with_former_records(testbed: KlightTestbed, *names: str) -> None:
    """Let a controller find members whose records were applied to the pods themselves."""
    await testbed.start()
    await testbed.add(*names, spec=GATE)
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    client = testbed.cluster.client
    for name in names:
        pod = await client.get(PeerPod, name, "default")
        annotations = pod.metadata.annotations
        await testbed.wipe(name)
        meta = ObjectMeta.like(pod, uid=pod.metadata.uid, annotations=annotations)
        await client.with_field_manager(MANAGER).apply(PeerPod(metadata=meta))
    await testbed.annotate(names[0], {"author": "1"})
    await testbed.start()
    await testbed.cluster.advance(30)


async def test_records_of_a_former_version_are_valid(testbed: KlightTestbed) -> None:
    await start_with_former_records(testbed, "p1", "p2", "p3")
    assert len(testbed.peers.joins()) == 2
    assert await testbed.stack() == ["p3", "p2", "p1"]


async def test_records_of_a_former_version_are_erased(testbed: KlightTestbed) -> None:
    await start_with_former_records(testbed, "p1", "p2")
    await testbed.label("p1", None)
    await testbed.cluster.advance(30)
    assert (await testbed.cluster.get(Pod, "p1")).metadata.annotations == {"author": "1"}
    assert await testbed.joined("p1") == "False"
    assert await testbed.joined("p2") == "True"


async def test_records_of_a_former_version_are_changed(testbed: KlightTestbed) -> None:
    await start_with_former_records(testbed, "p1", "p2")
    await testbed.label("p1", "b")
    await testbed.cluster.advance(30)
    pod = await testbed.cluster.get(Pod, "p1")
    assert pod.metadata.annotations[NETWORK] == "default/b"
    assert pod.metadata.annotations["author"] == "1"
    assert {key for key in pod.metadata.annotations if key != "author"} <= set(WRITTEN)
    assert await testbed.joined("p1") == "True"


async def test_a_record_and_a_gate_keep_each_other(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", spec=GATE)
    await testbed.wipe("p1")
    await testbed.cluster.advance(30)
    assert await testbed.record("p1") is not None
    assert await testbed.joined("p1") == "True"


async def test_a_record_meant_for_a_pod_that_was_replaced_is_not_written_on_its_namesake(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1")
    await testbed.pod("p2", peer={"join_seconds": 2})
    await testbed.cluster.advance(1)
    await testbed.delete("p2")
    await testbed.pod("p2", None)
    await testbed.cluster.advance(30)
    assert (await testbed.cluster.get(Pod, "p2")).metadata.annotations == {}
