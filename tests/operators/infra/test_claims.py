"""An infrastructure is one Cluster's; whatever way it became that, it can be deleted."""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.operators.infra.api import INFRASTRUCTURE, Cluster, InfrastructureClaim
from quintant.operators.infra.builders import CLUSTER_UID, OWNER
from quintant.operators.infra.observed.session import ProviderSession
from quintant.testing.faults.match import path, writes
from testbeds.infra import API_VERSION, InfraTestbed, condition, tear_away, template

PATH = f"/apis/{API_VERSION}/namespaces/default/clusters"


async def claims(testbed: InfraTestbed) -> dict[str, str]:
    """The Clusters that have infrastructures, by id."""
    found = await testbed.cluster.client.list(InfrastructureClaim, live=True)
    return {each.spec.infrastructure_id: each.spec.holder.name for each in found}


async def orphan(testbed: InfraTestbed) -> None:
    """An infrastructure that no Cluster has."""
    await testbed.everything("old", deletionPolicy="Orphan")
    await testbed.delete("old")
    await testbed.gone("old")
    assert await claims(testbed) == {}


async def unclaim(testbed: InfraTestbed) -> None:
    """As everything was before there were claims."""
    for each in await testbed.cluster.client.list(InfrastructureClaim, live=True):
        await testbed.cluster.client.delete(each)
    for cluster in await testbed.cluster.client.list(Cluster, live=True):
        await testbed.annotate(cluster.metadata.name, infrastructure=None)


async def restore(testbed: InfraTestbed, name: str = "one") -> None:
    """Lose a Cluster, and create it from its backup: spec and annotations, and no status."""
    found = await testbed.get(name)
    await tear_away(testbed.cluster.client, found)
    await testbed.cluster.wait_deleted(Cluster, name)
    noted = {"annotations": dict(found.metadata.annotations)}
    assert found.spec.tosca is not None
    await testbed.create(
        {
            "apiVersion": API_VERSION,
            "kind": "Cluster",
            "metadata": {"name": name, "namespace": "default", **noted},
            "spec": {"tosca": found.spec.tosca.value},
        }
    )


async def deleted(testbed: InfraTestbed, name: str = "one") -> None:
    """Delete a Cluster; nothing of it is left anywhere."""
    await testbed.delete(name)
    await testbed.gone(name)
    assert testbed.model.infrastructures == {}
    assert testbed.model.running == []
    assert await claims(testbed) == {}


async def test_of_two_that_adopt_one_at_once_one_has_it(testbed: InfraTestbed) -> None:
    await orphan(testbed)
    for name in ("one", "two"):
        await testbed.make(name, adoptInfrastructureID="inf-1", paused=True)
    await testbed.cluster.advance(5)
    # Each decides before what the other decides is written.
    with testbed.cluster.faults.delay(3, when=writes & path("*/status")):
        for name in ("one", "two"):
            await testbed.edit(name, paused=False)
        await testbed.cluster.advance(60)
    states = {name: await testbed.get(name) for name in ("one", "two")}
    has = [name for name, each in states.items() if each.status and each.status.cluster_id]
    assert len(has) == 1
    (loser,) = {"one", "two"} - set(has)
    assert condition(states[loser], "Stalled") == ("True", "AlreadyManaged")
    await testbed.delete(loser)
    await testbed.gone(loser)
    assert testbed.model.running == ["front", "wn"]
    await deleted(testbed, has[0])


async def test_adopted_one_is_deleted(testbed: InfraTestbed) -> None:
    await orphan(testbed)
    await testbed.make(adoptInfrastructureID="inf-1")
    await testbed.state("ONLINE")
    assert await claims(testbed) == {"inf-1": "one"}
    await deleted(testbed)


async def test_moved_one_is_deleted(testbed: InfraTestbed) -> None:
    await orphan(testbed)
    # Made by the operator of another management cluster.
    testbed.model.only().template["metadata"] |= {OWNER: "elsewhere", CLUSTER_UID: "u-elsewhere"}
    await testbed.make(adoptInfrastructureID="inf-1")
    await testbed.state("ONLINE")
    await deleted(testbed)


async def test_restored_one_takes_its_infrastructure_over_and_is_deleted(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    await testbed.crash()
    await restore(testbed)
    await testbed.start()
    found = await testbed.state("ONLINE")
    assert found.status is not None
    assert found.status.cluster_id == "inf-1"
    assert testbed.model.creations() == 1
    await deleted(testbed)


async def test_restored_one_that_is_deleted_at_once_leaves_nothing(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.crash()
    await restore(testbed)
    await testbed.start()
    await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: bool(it.status and it.status.scheduled_to)
    )
    await deleted(testbed)


async def test_one_whose_template_was_lost_is_deleted(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.crash()
    await deleted(testbed)


async def test_what_was_there_before_is_claimed_at_the_first_pass(testbed: InfraTestbed) -> None:
    await orphan(testbed)
    await testbed.make("adopted", adoptInfrastructureID="inf-1")
    for name in ("one", "lost"):
        await testbed.make(name)
    for name in ("adopted", "one", "lost"):
        await testbed.state("ONLINE", name)
    has = await claims(testbed)
    await testbed.crash()
    await unclaim(testbed)
    lost = next(id for id, name in has.items() if name == "lost")
    testbed.model.infrastructures[lost].template_lost = True
    await testbed.start()
    await testbed.cluster.advance(70)
    assert await claims(testbed) == has
    for name in ("adopted", "one", "lost"):
        found = await testbed.get(name)
        assert found.status is not None
        assert found.metadata.annotations[INFRASTRUCTURE] == found.status.cluster_id
    for name in ("adopted", "one"):
        await testbed.delete(name)
        await testbed.gone(name)
    await deleted(testbed, "lost")


async def test_copy_of_a_cluster_gets_an_infrastructure_of_its_own(testbed: InfraTestbed) -> None:
    found = await testbed.everything()
    noted = {"annotations": dict((await testbed.get()).metadata.annotations)}
    assert noted["annotations"][INFRASTRUCTURE] == "inf-1"
    assert found.spec.tosca is not None
    await testbed.create(
        {
            "apiVersion": API_VERSION,
            "kind": "Cluster",
            "metadata": {"name": "copy", "namespace": "default", **noted},
            "spec": {"tosca": found.spec.tosca.value},
        }
    )
    copy = await testbed.state("ONLINE", "copy")
    assert copy.status is not None
    assert copy.status.cluster_id == "inf-2"
    await testbed.delete("copy")
    await testbed.gone("copy")
    await deleted(testbed)


async def test_cluster_that_lost_its_status_takes_its_own_again(testbed: InfraTestbed) -> None:
    found = await testbed.everything()
    assert found.status is not None
    await testbed.crash()
    names = ("clusterID", "runningOn", "operation", "lastAppliedHash", "lastAppliedTosca")
    change: dict[str, Any] = dict.fromkeys((*names, "created", "infrastructure", "conditions"))
    await testbed.merge(f"{PATH}/one/status", {"status": change})
    await testbed.start()
    await testbed.cluster.advance(60)
    again = await testbed.state("ONLINE")
    assert again.status is not None
    assert again.status.cluster_id == "inf-1"
    assert testbed.model.creations() == 1
    await deleted(testbed)


async def test_cluster_that_lost_all_records_finds_its_own_by_its_mark(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    await testbed.make("two")
    await testbed.state("ONLINE", "two")
    await testbed.crash()
    # As a snapshot of the API server from before it was made brings it back.
    status = (await testbed.get()).status
    assert status is not None
    fields = [each for each in msgspec.to_builtins(status, enc_hook=str) if each != "scheduledTo"]
    await testbed.merge(f"{PATH}/one/status", {"status": dict.fromkeys(fields)})
    await unclaim(testbed)
    await testbed.start()
    again = await testbed.state("ONLINE")
    assert again.status is not None
    assert again.status.cluster_id == "inf-1"
    assert testbed.model.creations() == 2
    assert again.metadata.annotations[INFRASTRUCTURE] == "inf-1"
    await testbed.delete("two")
    await testbed.gone("two")
    await deleted(testbed)


async def test_id_of_a_stranger_in_the_answer_to_a_creation_is_not_believed(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    owner = testbed.model.only().owner
    document = template() | {"metadata": {"infra_name": "theirs"}}
    theirs = await testbed.model.create(ProviderSession(testbed.url, {}, {}), owner, document)
    testbed.model.faults.wrong_id = theirs
    await testbed.make("two")
    await testbed.state("ONLINE", "two", within=300)
    await testbed.delete("two")
    await testbed.gone("two")
    assert set(testbed.model.infrastructures) == {"inf-1", theirs}
    assert testbed.model.infrastructures[theirs].template == document


async def test_status_that_names_anothers_is_put_right(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.make("two")
    await testbed.state("ONLINE", "two")
    await testbed.crash()
    await testbed.merge(f"{PATH}/two/status", {"status": {"clusterID": "inf-1"}})
    await testbed.start()
    await testbed.cluster.advance(60)
    found = await testbed.state("ONLINE", "two")
    assert found.status is not None
    assert found.status.cluster_id == "inf-2"
    assert "NotClaimed" in await testbed.reasons()
    await testbed.delete("two")
    await testbed.gone("two")
    assert list(testbed.model.infrastructures) == ["inf-1"]


async def test_what_carries_no_mark_is_left_alone_until_it_is_annotated(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    await testbed.crash()
    await unclaim(testbed)
    testbed.model.only().template["metadata"] = {"infra_name": "by hand"}
    await testbed.start()
    found = await testbed.condition("Stalled", "True", "NotClaimed")
    assert found.status is not None
    assert f"{INFRASTRUCTURE}=inf-1 --overwrite" in found.status.phase_message
    await testbed.delete()
    await testbed.cluster.advance(900)
    assert testbed.model.running == ["front", "wn"]
    await testbed.annotate(infrastructure="inf-1")
    await testbed.gone()
    assert testbed.model.running == []


async def test_id_of_another_in_the_answer_to_a_creation_is_not_believed(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    testbed.model.faults.wrong_id = "inf-1"
    await testbed.make("two")
    await testbed.state("ONLINE", "two", within=300)
    assert await claims(testbed) == {"inf-1": "one", "inf-2": "two"}
    assert testbed.model.creations() == 2
    await testbed.delete("two")
    await testbed.gone("two")
    assert list(testbed.model.infrastructures) == ["inf-1"]


async def test_infrastructure_that_is_gone_is_nobodys(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.infrastructures.clear()
    testbed.model.cloud.clear()
    await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: bool(it.status and it.status.cluster_id == "inf-2"),
        within=200,
    )  # fmt: skip
    await testbed.cluster.advance(10)
    assert await claims(testbed) == {"inf-2": "one"}
    assert (await testbed.get()).metadata.annotations[INFRASTRUCTURE] == "inf-2"
