"""Clouds, providers and Secrets that are missing, used, replaced, and come back."""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.api.core import Secret
from quintant.api.meta import condition_of
from quintant.operators.infra.api import (
    GROUP,
    IN_USE,
    Cloud,
    GlobalCloud,
    GlobalInfrastructureProvider,
    InfrastructureClaim,
    InfrastructureProvider,
)
from testbeds.infra import OPTIONS, PASSWORD, InfraTestbed, condition, opened, tear_away


def of(found: Any, type: str) -> tuple[str, str]:
    told = condition_of(found.status.conditions, type) if found.status else None
    assert told is not None, f"there is no condition {type}"
    return told.status, told.reason


async def test_cloud_in_use_stays_until_its_clusters_are_gone(testbed: InfraTestbed) -> None:
    await testbed.everything()
    cloud = await testbed.cluster.eventually(
        Cloud, "here", until=lambda it: IN_USE in it.metadata.finalizers
    )
    await testbed.cluster.client.delete(cloud)
    provider = await testbed.cluster.get(InfrastructureProvider, "im")
    await testbed.cluster.client.delete(provider)
    await testbed.cluster.advance(120)
    found = await testbed.cluster.get(Cloud, "here")
    assert of(found, "InUse") == ("True", "InUse")
    assert of(await testbed.cluster.get(InfrastructureProvider, "im"), "InUse")[0] == "True"
    await testbed.delete()
    await testbed.gone()
    await testbed.cluster.wait_deleted(Cloud, "here", within=120)
    await testbed.cluster.wait_deleted(InfrastructureProvider, "im", within=120)
    assert testbed.model.running == []


async def test_everything_that_is_deleted_at_once_goes_and_leaves_no_machine(
    testbed: InfraTestbed,
) -> None:
    await testbed.provider()
    await testbed.openstack()
    await testbed.make()
    await testbed.state("ONLINE")
    parts = ((Secret, "im-cred"), (Secret, "here-cred"), (InfrastructureProvider, "im"),
             (Cloud, "here"))  # fmt: skip
    for kind, name in parts:
        await testbed.cluster.client.delete(await testbed.cluster.get(kind, name))
    await testbed.delete()
    await testbed.gone()
    assert testbed.model.running == []
    for kind, name in parts:
        await testbed.cluster.wait_deleted(kind, name, within=120)


async def test_secrets_are_held_for_as_long_as_there_are_clusters(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.openstack()
    await testbed.openstack("other")
    await testbed.make(cloudRef={"name": "here"})
    await testbed.make("two", cloudRef={"name": "other"})
    await testbed.state("ONLINE")
    await testbed.state("ONLINE", "two")
    held = (await testbed.cluster.get(Secret, "im-cred")).metadata.finalizers
    assert set(held) == {f"{GROUP}/cloud.default.here", f"{GROUP}/cloud.default.other"}
    await testbed.delete()
    await testbed.gone()
    await testbed.cluster.eventually(
        Secret,
        "im-cred",
        until=lambda it: it.metadata.finalizers == (f"{GROUP}/cloud.default.other",),
    )
    assert (await testbed.cluster.get(Secret, "here-cred")).metadata.finalizers == ()
    found = await testbed.cluster.eventually(
        Cloud, "here", until=lambda it: not it.metadata.finalizers
    )
    assert found.status is not None
    assert found.status.held_secrets == ()


async def test_secret_that_is_no_longer_named_is_let_go(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.cluster.eventually(
        Secret, "im-cred", until=lambda it: bool(it.metadata.finalizers)
    )
    await testbed.secret("new", username="us", password=PASSWORD)
    path = "/apis/infra.quintant.dev/v1alpha1/namespaces/default/infrastructureproviders/im"
    await testbed.merge(path, {"spec": {"im": {"credentialsSecretRef": {"name": "new"}}}})
    await testbed.cluster.eventually(Secret, "new", until=lambda it: bool(it.metadata.finalizers))
    await testbed.cluster.eventually(Secret, "im-cred", until=lambda it: not it.metadata.finalizers)


async def test_global_cloud_holds_no_secret_of_another_namespace(testbed: InfraTestbed) -> None:
    await testbed.secret("stolen", username="a", password="b")
    await testbed.provider("im", "")
    ref = {"name": "stolen", "namespace": "default"}
    auth = {"credentialsSecretRef": ref, "project": {"name": "shop"}}
    stack = {"url": "https://keystone.example.com:5000", "auth": auth}
    await testbed.cloud("far", "", type="openstack", openstack=stack)
    await testbed.make(cloudRef={"kind": "GlobalCloud", "name": "far"})
    await testbed.cluster.eventually(
        GlobalCloud, "far", "", until=lambda it: IN_USE in it.metadata.finalizers
    )
    await testbed.cluster.advance(5)
    assert (await testbed.cluster.get(Secret, "stolen")).metadata.finalizers == ()
    held = await testbed.cluster.get(Secret, "im-cred", "infra-secrets")
    assert held.metadata.finalizers == (f"{GROUP}/globalcloud.far",)


async def test_cluster_whose_cloud_was_torn_away_waits_without_writing(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    await testbed.crash()
    cloud = await testbed.cluster.get(Cloud, "here")
    await testbed.cluster.client.json_patch(
        Cloud, cloud.metadata, [{"op": "remove", "path": "/metadata/finalizers"}]
    )
    await testbed.cluster.client.delete(cloud)
    await testbed.delete()
    await testbed.start()
    await testbed.condition("Deleting", "True", "CloudNotFound")
    before = await testbed.get()
    await testbed.cluster.advance(1800)
    after = await testbed.get()
    assert before.metadata.resource_version == after.metadata.resource_version
    assert len(testbed.model.infrastructures) == 1
    await testbed.cloud()
    await testbed.gone()
    assert testbed.model.running == []


async def test_cluster_is_released_without_its_cloud_if_asked(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.crash()
    cloud = await testbed.cluster.get(Cloud, "here")
    await testbed.cluster.client.json_patch(
        Cloud, cloud.metadata, [{"op": "remove", "path": "/metadata/finalizers"}]
    )
    await testbed.cluster.client.delete(cloud)
    await testbed.delete()
    await testbed.start()
    await testbed.condition("Deleting", "True", "CloudNotFound")
    path = "/apis/infra.quintant.dev/v1alpha1/namespaces/default/clusters/one"
    await testbed.merge(path, {"metadata": {"annotations": {"quintant.dev/release": "true"}}})
    await testbed.gone()
    said = [note for _, reason, note in await testbed.events() if reason == "Released"]
    assert "inf-1" in said[0]
    assert "Cloud here" in said[0]


async def test_cloud_made_anew_with_another_address_is_not_believed(testbed: InfraTestbed) -> None:
    testbed.hosts = ("other.example.com:8800",)
    await testbed.everything()
    path = "/apis/infra.quintant.dev/v1alpha1/namespaces/default/infrastructureproviders/im"
    kept = dict(testbed.model.infrastructures)
    testbed.model.infrastructures.clear()
    await testbed.merge(path, {"spec": {"im": {"url": "http://other.example.com:8800"}}})
    found = await testbed.state("FAILED", within=120)
    assert condition(found, "BindingMismatch") == ("True", "OtherEndpoint")
    await testbed.cluster.advance(900)
    assert testbed.model.creations() == 1
    testbed.model.infrastructures.update(kept)
    await testbed.state("ONLINE", within=400)
    assert testbed.model.creations() == 1
    await testbed.delete()
    await testbed.gone()
    assert await testbed.cluster.client.list(InfrastructureClaim, live=True) == []


async def test_secret_that_is_missing_is_named_and_awaited(testbed: InfraTestbed) -> None:
    await testbed.everything()
    secret = await testbed.cluster.eventually(
        Secret, "im-cred", until=lambda it: bool(it.metadata.finalizers)
    )
    await tear_away(testbed.cluster.client, secret)
    found = await testbed.state("FAILING_RECONCILIATION", within=200)
    assert condition(found, "CloudResolved") == ("False", "SecretNotFound")
    assert found.status is not None
    assert "default/im-cred" in found.status.phase_message
    await testbed.secret("im-cred", username="us", password=PASSWORD)
    await testbed.state("ONLINE", within=30)


async def test_provider_says_whether_it_answers_and_accepts_us(testbed: InfraTestbed) -> None:
    await testbed.provider()
    found = await testbed.cluster.eventually(
        InfrastructureProvider, "im", until=lambda it: bool(it.status and it.status.version)
    )
    assert of(found, "Ready") == ("True", "Ready")
    assert found.status is not None
    assert found.status.version == "2.0.0"
    testbed.model.faults.down = True
    await testbed.cluster.advance(70)
    found = await testbed.cluster.get(InfrastructureProvider, "im")
    assert of(found, "Reachable")[0] == "False"
    testbed.model.faults.down, testbed.model.faults.password = False, "right"
    await testbed.cluster.advance(70)
    found = await testbed.cluster.get(InfrastructureProvider, "im")
    assert of(found, "CredentialsValid") == ("False", "Unauthorized")


async def test_secrets_of_global_kinds_are_in_one_namespace(testbed: InfraTestbed) -> None:
    await testbed.secret("stolen", username="a", password="b")
    im = {
        "url": "http://im:8800",
        "credentialsSecretRef": {"name": "stolen", "namespace": "default"},
    }
    await testbed.create(
        {
            "apiVersion": "infra.quintant.dev/v1alpha1",
            "kind": "GlobalInfrastructureProvider",
            "metadata": {"name": "im"},
            "spec": {"type": "im", "im": im},
        }
    )
    found = await testbed.cluster.eventually(
        GlobalInfrastructureProvider, "im", "", until=lambda it: it.status is not None
    )
    assert of(found, "CredentialsValid") == ("False", "SecretNotAllowed")
    assert testbed.model.calls == []


async def test_dummy_clouds_need_permission() -> None:
    options = msgspec.structs.replace(OPTIONS, dummy_clouds=False)
    async with opened(options) as testbed:
        await testbed.provider()
        await testbed.cloud()
        found = await testbed.cluster.eventually(
            Cloud, "here", until=lambda it: it.status is not None
        )
        assert of(found, "Ready") == ("False", "DummyCloudsDisabled")


async def test_cloud_that_the_provider_does_not_reach_has_no_wrong_credentials(
    testbed: InfraTestbed,
) -> None:
    testbed.model.faults.cloud_unreached = "Error getting cloud info: Max retries exceeded"
    await testbed.provider()
    await testbed.openstack()
    await testbed.make(cloudRef={"name": "here"})
    await testbed.cluster.advance(200)
    found = await testbed.cluster.get(Cloud, "here")
    assert found.status is not None
    known = {each.type: (each.status, each.reason) for each in found.status.conditions}
    assert known["CredentialsValid"] == ("Unknown", "CloudUnreachable")
    assert known["Ready"] == ("False", "CloudUnreachable")
    cluster = await testbed.get()
    assert cluster.status is not None
    assert cluster.status.state == "CREATING"
    assert condition_of(cluster.status.conditions, "CredentialsValid") is None
    testbed.model.faults.cloud_unreached = ""
    await testbed.state("ONLINE")
    await testbed.cluster.advance(70)
    testbed.model.faults.cloud_unreached = "Error getting cloud info: Failed to resolve 'keystone'"
    await testbed.cluster.advance(120)
    found = await testbed.cluster.get(Cloud, "here")
    assert found.status is not None
    known = {each.type: (each.status, each.reason) for each in found.status.conditions}
    assert known["CredentialsValid"] == ("True", "Accepted")
    assert known["Ready"] == ("False", "CloudUnreachable")
    assert testbed.model.creations() == 1
