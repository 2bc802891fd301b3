"""The rights of the Cosmos operator: each is used or has its reason in a table; none is lacking."""

from __future__ import annotations

from typing import Any

from quintant.api.rbac import RoleBinding
from quintant.core.object import replace
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.runtime.cache.manifests import Applier
from testbeds.cosmos import NAMESPACE, CosmosTestbed
from testbeds.cosmos_manifests import Plain, manifest
from testbeds.cosmos_rights import UNUSED
from testbeds.rights import rights_missing, rights_of, rights_used, without_streams

REVISION = "app.kubernetes.io/revision"


async def apply(testbed: CosmosTestbed, *documents: Plain) -> None:
    await Applier(testbed.cluster.client.rest, "user", NAMESPACE).apply(documents)


async def busy_day(testbed: CosmosTestbed) -> None:
    """Everything that needs a right of its own."""
    source = {
        "autoDataSource": {"volumeSnapshotSelector": {"cosmos.strange.love/source": "hourly"}}
    }
    healed = {"crashLoop": {"restarts": 3, "windowSeconds": 600}}
    versions = [{"height": 0, "image": "gaia:v1"}]
    await testbed.run(
        replicas=3, claim=source, selfHeal=healed, service={"pruneOnScaleDown": True},
        chain={"versions": versions, "watchUpgradePlans": True},
    )  # fmt: skip
    copies = {"fullNodeRef": {"name": "hub"}, "limit": 1, "schedule": "* * * * *"}
    job = changed("job", selector={"cosmos.strange.love/source": "hourly"}, interval="1m")
    await apply(testbed, changed("schedule", **copies), job)
    await testbed.cluster.advance(150)
    await apply(testbed, changed("schedule", **copies, suspend=True))
    testbed.node("hub-1").restarts = 5  # ends again and again: begins anew from a copy
    await testbed.cluster.advance(70)
    await testbed.change({"replicas": 2, "podTemplate": {"image": "gaia:v9"}})
    await testbed.cluster.advance(20)
    for most in ("abc", 1, "abc", 1):  # what is told twice is written once, and then counted
        await testbed.change({"strategy": {"maxUnavailable": most}})
        await testbed.cluster.advance(5)
    found = await testbed.cluster.get(ScheduledVolumeSnapshot, "hourly", NAMESPACE)
    await testbed.cluster.client.delete(found)
    with testbed.cluster.faults.answer(400, when=without_streams):
        await bind_elsewhere(testbed)
        await testbed.cluster.advance(30)  # the lease of the one before is left to run out


async def bind_elsewhere(testbed: CosmosTestbed) -> None:
    """Have somebody bind the account of the pods to another role, which cannot be changed back."""
    await testbed.crash()
    binding = await testbed.cluster.get(RoleBinding, "hub-vc-rb", NAMESPACE)
    await testbed.cluster.client.delete(binding)
    await testbed.cluster.advance(1)
    marks = {name: value for name, value in binding.metadata.labels.items() if name != REVISION}
    meta = replace(binding.metadata, uid="", resource_version="", labels=marks)
    other = replace(binding.role_ref, name="another")
    await testbed.cluster.create(replace(binding, metadata=meta, role_ref=other))
    await testbed.start()


def changed(name: str, **spec: Any) -> Plain:
    given = manifest(name)
    return {**given, "spec": {**given["spec"], **spec}}


async def test_every_right_is_used_or_accounted_for_and_none_is_missing(
    testbed: CosmosTestbed,
) -> None:
    await testbed.crash()
    testbed.leader_elect = True
    await testbed.start()
    await busy_day(testbed)
    assert testbed.account is not None
    assert not testbed.account.denied()
    sent, held = testbed.cluster.faults.calls, rights_of("cosmos")
    assert rights_missing(sent, held) == set()
    assert held - rights_used(sent) == set(UNUSED)
    assert (await testbed.cluster.get(RoleBinding, "hub-vc-rb", NAMESPACE)).role_ref.name == (
        "hub-vc-r"
    )
