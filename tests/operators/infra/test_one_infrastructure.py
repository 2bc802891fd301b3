"""Exactly one infrastructure, whatever fails while it is made or changed; none is left."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.events import Event
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.plan.diff import digest
from quintant.testing.faults.match import kind, path, writes
from testbeds.infra import InfraTestbed, condition

STATUS = path("*/clusters/one/status") & writes


async def ready(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud()
    await testbed.cluster.advance(3)


async def asked_for(testbed: InfraTestbed) -> None:
    """Wait until a creation reached the provider."""
    for _ in range(600):
        if testbed.model.creations():
            return
        await testbed.cluster.advance(0.05)
    raise AssertionError("nothing was asked for")


async def test_answer_that_is_lost_is_found_by_its_token(testbed: InfraTestbed) -> None:
    await ready(testbed)
    testbed.model.faults.lost_answers = 1
    await testbed.make()
    await asked_for(testbed)
    await testbed.restart()
    await testbed.state("ONLINE")
    assert testbed.model.creations() == 1
    assert len(testbed.model.infrastructures) == 1
    assert "Adopted" in await testbed.reasons()


async def test_no_second_request_before_the_first_is_settled(testbed: InfraTestbed) -> None:
    await ready(testbed)
    await testbed.crash()
    await testbed.make()
    # As if it was killed between the record of its attempt and the request.
    moment = testbed.cluster.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    found = await testbed.get()
    assert found.spec.tosca is not None
    operation = {"type": "Create", "phase": "Prepared", "token": "t-1", "attempt": 1}
    operation |= {"hash": digest(found.spec.tosca.value), "lastAttemptAt": moment}
    status = {"scheduledTo": {"kind": "Cloud", "name": "here"}, "operation": operation}
    path = "/apis/infra.quintant.dev/v1alpha1/namespaces/default/clusters/one/status"
    await testbed.merge(path, {"status": status})
    await testbed.start()
    await testbed.cluster.advance(50)
    assert testbed.model.creations() == 0
    await testbed.state("ONLINE")
    assert testbed.model.creations() == 1
    assert testbed.model.only().template["metadata"]["infra_name"] == "default.one--t-1"


async def test_scaling_to_a_size_that_was_there_before_asks_again(testbed: InfraTestbed) -> None:
    await testbed.everything()
    for workers in (3, 1, 3):
        await testbed.scale(workers)
        await testbed.state("RECONCILING", within=10)
        await testbed.state("ONLINE")
        assert len(testbed.model.running) == workers + 1


async def test_cluster_deleted_with_an_unknown_request_leaves_nothing(
    testbed: InfraTestbed,
) -> None:
    await ready(testbed)
    testbed.model.faults.lost_answers = 1
    await testbed.make()
    await asked_for(testbed)
    await testbed.delete()
    await testbed.gone()
    assert testbed.model.infrastructures == {}
    assert testbed.model.running == []
    assert testbed.model.creations() == 1


async def test_provider_that_crashes_with_the_answer_is_healed(testbed: InfraTestbed) -> None:
    testbed.model.faults.prepare = 30
    await ready(testbed)
    await testbed.make(timeouts={"launchGrace": "1m"}, reconfigure={"backoff": "1s"})
    await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: bool(it.status and it.status.cluster_id)
    )
    testbed.model.crash()
    await testbed.state("ONLINE", within=600)
    assert testbed.model.creations() == 1
    assert testbed.model.running == ["front", "wn"]


async def test_edit_while_it_is_created_is_applied_afterwards(testbed: InfraTestbed) -> None:
    testbed.model.faults.launch = 5
    await ready(testbed)
    await testbed.make()
    await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: bool(it.status and it.status.cluster_id)
    )
    await testbed.scale(3)
    await testbed.cluster.advance(3)
    assert testbed.model.count("update") == 0
    await testbed.cluster.eventually(
        Cluster,
        "one",
        until=lambda it: bool(
            it.status and it.status.state == "ONLINE" and len(testbed.model.running) == 4
        ),
    )
    assert testbed.model.running == ["front", "wn", "wn", "wn"]


async def test_update_whose_answer_is_lost_launches_nothing_twice(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.faults.launch = 5
    await testbed.scale(3)
    for _ in range(200):
        if testbed.model.count("update"):
            break
        await testbed.cluster.advance(0.05)
    await testbed.restart()
    found = await testbed.condition("Synced", "True", within=300)
    await testbed.state("ONLINE")
    assert testbed.model.running == ["front", "wn", "wn", "wn"]
    assert found.status is not None


@pytest.mark.parametrize("machines", [1, 4])
@pytest.mark.parametrize("after", [0.1, 0.5, 1, 2, 4])
async def test_cluster_deleted_early_leaves_no_machine(
    testbed: InfraTestbed, after: float, machines: int
) -> None:
    testbed.model.faults.prepare, testbed.model.faults.launch = 3, 2
    await ready(testbed)
    await testbed.make(workers=machines - 1)
    await asked_for(testbed)
    await testbed.cluster.advance(after)
    await testbed.delete()
    await testbed.gone()
    await testbed.cluster.advance(60)
    assert testbed.model.running == []
    assert testbed.model.infrastructures == {}


async def test_grace_over_without_a_machine_is_told_as_a_possible_leak(
    testbed: InfraTestbed,
) -> None:
    testbed.model.faults.prepare = 10_000
    await ready(testbed)
    await testbed.make(timeouts={"launchGrace": "2m"})
    await asked_for(testbed)
    await testbed.delete()
    await testbed.cluster.advance(100)
    assert testbed.model.count("delete") == 0
    await testbed.gone()
    said = [note for _, reason, note in await testbed.events() if reason == "PossibleLeak"]
    assert len(said) == 1
    assert "im-inf-1-" in said[0]


async def test_deletion_waits_for_nobody(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.faults.prepare = 10_000
    for number in range(50):
        await testbed.make(f"n{number}")
    await testbed.cluster.advance(20)
    assert testbed.model.creations() == 51
    await testbed.delete()
    await testbed.gone(within=10)


async def test_deletion_that_fails_silently_is_repeated_and_its_reason_told(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    testbed.model.faults.finalize_fail = "port in use"
    await testbed.delete()
    found = await testbed.condition("Deleting", "True", "DeleteFailed")
    assert "port in use" in found.status.phase_message  # type: ignore[union-attr]
    testbed.model.faults.finalize_fail = ""
    await testbed.gone(within=600)
    assert testbed.model.running == []


async def test_force_delete_ends_what_cannot_be_deleted(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.faults.finalize_fail = "port in use"
    await testbed.delete()
    await testbed.condition("Deleting", "True", "DeleteFailed")
    await testbed.annotate(force_delete="true")
    await testbed.gone(within=600)


@pytest.mark.parametrize("times", [1, 2, 5])
async def test_infrastructure_that_comes_back_after_its_deletion_is_deleted_again(
    testbed: InfraTestbed, times: int
) -> None:
    await testbed.everything()
    testbed.model.faults.ghosts = times
    await testbed.delete()
    await testbed.gone(within=120)
    assert testbed.model.infrastructures == {}
    assert testbed.model.running == []


async def test_infrastructure_deleted_behind_our_back_is_made_anew_once(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    testbed.model.infrastructures.clear()
    testbed.model.cloud.clear()
    await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: bool(it.status and it.status.cluster_id == "inf-2"),
        within=200,
    )  # fmt: skip
    await testbed.state("ONLINE")
    assert testbed.model.creations() == 2
    assert "InfrastructureGone" in await testbed.reasons()


@pytest.mark.parametrize(
    ("fault", "known_by"),
    [({"page": (500, b"")}, "ProviderReachable"), ({"password": "another"}, "CredentialsValid")],
    ids=str,
)
async def test_look_that_is_refused_during_a_creation_makes_no_second_one(
    testbed: InfraTestbed, fault: dict[str, Any], known_by: str
) -> None:
    testbed.model.faults.prepare = 400
    await testbed.provider()
    await testbed.cloud()
    await testbed.make()
    await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: bool(it.status and it.status.cluster_id)
    )
    for name, value in fault.items():
        setattr(testbed.model.faults, name, value)
    await testbed.condition(known_by, "False", within=60)
    await testbed.cluster.advance(120)
    testbed.model.faults.page, testbed.model.faults.password = None, ""
    await testbed.state("ONLINE", within=900)
    assert testbed.model.creations() == 1


PAGES = {
    "a proxy's page": (404, b"<html>not found</html>"),
    "a gateway that speaks JSON as IM does": (404, b'{"message":"no Route matched","code":404}'),
    "a bare route": (404, b'{"detail":"Not Found"}'),
    "a gateway that wants a login": (401, b"<html>log in</html>"),
    "a gateway that knows nobody": (401, b'{"message":"Unauthorized","code":401}'),
    "a gateway that lets nobody in": (403, b'{"message":"Forbidden","code":403}'),
    "overload": (503, b""),
    "too many": (429, b"slow down"),
    "no JSON": (200, b"{"),
}


@pytest.mark.parametrize("page", PAGES)
async def test_id_is_never_forgotten_for(testbed: InfraTestbed, page: str) -> None:
    await testbed.everything()
    calls = len(testbed.model.calls)
    testbed.model.faults.page = PAGES[page]
    await testbed.condition("ProviderReachable", "False")
    await testbed.cluster.advance(1800)
    found = await testbed.get()
    assert found.status is not None
    assert (found.status.cluster_id, found.status.state) == ("inf-1", "ONLINE")
    assert condition(found, "CredentialsValid")[0] == "True"
    assert len(testbed.model.calls) - calls < 200
    testbed.model.faults.page = None
    await testbed.condition("ProviderReachable", "True", within=400)
    assert testbed.model.creations() == 1


async def test_provider_that_is_down_is_waited_for(testbed: InfraTestbed) -> None:
    await ready(testbed)
    testbed.model.faults.down = True
    await testbed.make()
    await testbed.condition("ProviderReachable", "False")
    await testbed.cluster.advance(600)
    found = await testbed.get()
    assert found.status is not None
    assert found.status.state == "CREATING"
    testbed.model.faults.down = False
    await testbed.state("ONLINE", within=400)
    assert testbed.model.creations() == 1


async def test_crash_before_the_status_is_written_makes_no_second_one(
    testbed: InfraTestbed,
) -> None:
    await ready(testbed)
    await testbed.make()
    await asked_for(testbed)
    with testbed.cluster.faults.refuse(STATUS):
        await testbed.restart()
        await testbed.cluster.advance(5)
    await testbed.state("ONLINE", within=300)
    assert testbed.model.creations() == 1


async def test_infrastructure_is_orphaned_and_adopted_by_another_cluster(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything(deletionPolicy="Orphan")
    await testbed.delete()
    await testbed.gone()
    assert len(testbed.model.infrastructures) == 1
    await testbed.make("two", adoptInfrastructureID="inf-1")
    found = await testbed.state("ONLINE", "two")
    assert found.status is not None
    assert found.status.cluster_id == "inf-1"
    assert testbed.model.count("create", "update") == 1
    await testbed.delete("two")
    await testbed.gone("two")
    assert testbed.model.running == []


async def test_orphan_is_reported_before_its_cluster_goes(testbed: InfraTestbed) -> None:
    await testbed.everything(deletionPolicy="Orphan")
    with testbed.cluster.faults.refuse(kind(Event)):
        await testbed.delete()
        await testbed.cluster.advance(5)
        assert (await testbed.get()).metadata.finalizers
        await testbed.crash()
    await testbed.start()
    await testbed.gone()
    assert [note for _, reason, note in await testbed.events() if reason == "Orphaned"] == [
        "infrastructure inf-1 is left at the provider, as deletionPolicy Orphan says"
    ]


async def test_infrastructure_has_one_cluster(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.make("two", adoptInfrastructureID="inf-1")
    found = await testbed.state("FAILED", "two")
    assert condition(found, "Stalled") == ("True", "AlreadyManaged")
    await testbed.delete("two")
    await testbed.gone("two")
    assert testbed.model.running == ["front", "wn"]


async def test_paused_cluster_is_left_alone_and_held(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.edit(paused=True)
    await testbed.condition("Paused", "True")
    calls = testbed.model.count("state", "update", "delete")
    await testbed.scale(3)
    await testbed.delete()
    await testbed.cluster.advance(600)
    assert testbed.model.count("state", "update", "delete") == calls
    await testbed.edit(paused=False)
    await testbed.gone()
    assert testbed.model.running == []


async def test_second_infrastructure_with_our_token_is_deleted(testbed: InfraTestbed) -> None:
    await ready(testbed)
    testbed.model.faults.lost_answers = 1
    await testbed.make()
    await asked_for(testbed)
    model = testbed.model
    session = ProviderSession("http://im.example.com:8800", {}, {})
    first = model.only()
    # As if a proxy had sent the request twice.
    await model.create(session, first.owner, first.template)
    await testbed.state("ONLINE", within=200)
    await testbed.cluster.advance(30)
    assert list(model.infrastructures) == [first.id]
    assert model.running == ["front", "wn"]
    assert "DuplicateInfrastructure" in await testbed.reasons()
    await testbed.delete()
    await testbed.gone()
    assert model.running == []


@pytest.mark.parametrize("moment", ["create", "update"])
async def test_replica_that_takes_over_makes_nothing_twice(
    testbed: InfraTestbed, moment: str
) -> None:
    await testbed.crash()
    leader = await testbed.replica()
    await testbed.replica(started=False)
    testbed.model.faults.launch = 5
    await testbed.provider()
    await testbed.cloud()
    await testbed.make()
    if moment == "update":
        await testbed.state("ONLINE")
        await testbed.scale(3)
    for _ in range(2000):
        if testbed.model.count(moment):
            break
        await testbed.cluster.advance(0.02)
    await testbed.cluster.crash(leader)
    await testbed.cluster.advance(60)
    await testbed.state("ONLINE", within=400)
    workers = 3 if moment == "update" else 1
    assert testbed.model.running == ["front", *["wn"] * workers]
    assert testbed.model.creations() == 1


async def test_cluster_that_does_not_fit_its_type_is_held_until_it_is_mended(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    loose = {"name": "v1alpha1", "served": True, "storage": True, "subresources": {"status": {}}}
    definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
    versions = [{**loose, "schema": {"openAPIV3Schema": schema}}]
    await testbed.merge(
        f"{definition}clusters.infra.quintant.dev", {"spec": {"versions": versions}}
    )
    await testbed.edit(paused="perhaps")
    await testbed.cluster.advance(1)
    path = "/apis/infra.quintant.dev/v1alpha1/namespaces/default/clusters/one"
    await testbed.cluster.client.raw("DELETE", path)
    await testbed.cluster.advance(600)
    assert testbed.model.running == ["front", "wn"]
    assert "CleanupBlocked" in await testbed.reasons()
    await testbed.edit(paused=False)
    await testbed.gone()
    assert testbed.model.running == []


async def test_edit_of_what_the_provider_gave_up_is_applied(testbed: InfraTestbed) -> None:
    testbed.model.faults.prepare = 10_000
    await ready(testbed)
    await testbed.make(timeouts={"launchGrace": "1m"}, reconfigure={"backoff": "1s"})
    await asked_for(testbed)
    await testbed.cluster.advance(5)
    testbed.model.crash()
    await testbed.scale(2)
    await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: bool(it.status and it.status.state == "ONLINE"), within=900
    )
    assert testbed.model.running == ["front", "wn", "wn"]
    assert testbed.model.creations() == 1


GATEWAY = (404, b'{"message": "no Route matched with those values", "code": 404}')


async def test_cluster_deleted_behind_a_lost_gateway_waits_for_its_infrastructure(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    testbed.model.faults.page = GATEWAY
    await testbed.delete()
    await testbed.cluster.advance(600)
    assert testbed.model.running == ["front", "wn"]
    assert await testbed.get()
    testbed.model.faults.page = None
    await testbed.gone(within=600)
    assert testbed.model.running == []


async def test_cluster_edited_behind_a_lost_gateway_is_not_made_twice(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    testbed.model.faults.page = GATEWAY
    await testbed.scale(2)
    await testbed.cluster.advance(600)
    testbed.model.faults.page = None
    await testbed.cluster.advance(600)
    await testbed.state("ONLINE")
    assert testbed.model.creations() == 1
    assert testbed.model.running == ["front", "wn", "wn"]
