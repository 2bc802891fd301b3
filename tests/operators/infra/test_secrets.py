"""Secrets are shown to nobody whom they do not name."""

from __future__ import annotations

from quintant.api.core import Secret
from quintant.api.meta import condition_of
from quintant.core.object import ObjectMeta
from quintant.operators.infra.api import HOSTS, InfrastructureProvider
from testbeds.infra import API_VERSION, InfraTestbed, condition

TOKEN = "cluster-admin-token"
SECRETS = "/api/v1/namespaces/default/secrets"


async def stranger(testbed: InfraTestbed, secret: str) -> InfrastructureProvider:
    """A provider of somebody who may not read Secrets, and names one; what is said of it."""
    im = {"url": "http://evil.example.com", "credentialsSecretRef": {"name": secret}}
    await testbed.create(
        {
            "apiVersion": API_VERSION,
            "kind": "InfrastructureProvider",
            "metadata": {"name": "evil", "namespace": "default"},
            "spec": {"type": "im", "im": im},
        }
    )
    await testbed.cluster.advance(200)
    return await testbed.cluster.get(InfrastructureProvider, "evil")


async def test_secret_is_not_sent_to_a_provider_that_it_does_not_name(
    testbed: InfraTestbed,
) -> None:
    await testbed.cluster.create(
        Secret(
            metadata=ObjectMeta(name="admin", namespace="default"),
            string_data={"token": TOKEN, "username": "root", "password": TOKEN},
        )
    )
    found = await stranger(testbed, "admin")
    assert testbed.model.sent == []
    assert found.status is not None
    known = condition_of(found.status.conditions, "CredentialsValid")
    assert known is not None
    assert (known.status, known.reason) == ("False", "SecretNotShared")
    command = f"kubectl annotate secret -n default admin {HOSTS}=evil.example.com --overwrite"
    assert command in known.message


async def test_secret_of_one_provider_is_not_sent_to_another(testbed: InfraTestbed) -> None:
    await testbed.provider()
    found = await stranger(testbed, "im-cred")
    assert testbed.model.urls == {testbed.url}
    assert found.status is not None
    known = condition_of(found.status.conditions, "CredentialsValid")
    assert known is not None
    assert (known.status, known.reason) == ("False", "SecretNotShared")


async def test_secret_of_a_cloud_names_provider_and_cloud(testbed: InfraTestbed) -> None:
    await testbed.provider()
    testbed.hosts = ()
    await testbed.openstack()
    await testbed.make(cloudRef={"name": "here"})
    found = await testbed.condition("CloudResolved", "False", "SecretNotShared")
    assert found.status is not None
    wanted = f"{HOSTS}=im.example.com:8800,keystone.example.com:5000 --overwrite"
    assert wanted in found.status.phase_message
    assert all("password" not in each for _, each in testbed.model.sent)
    hosts = "im.example.com:8800,keystone.example.com:5000"
    await testbed.merge(f"{SECRETS}/here-cred", {"metadata": {"annotations": {HOSTS: hosts}}})
    await testbed.state("ONLINE", within=300)


async def test_cluster_whose_secret_was_not_made_for_it_is_held_and_not_lost(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    await testbed.merge(f"{SECRETS}/im-cred", {"metadata": {"annotations": {HOSTS: None}}})
    await testbed.condition("CloudResolved", "False", "SecretNotShared", within=300)
    await testbed.delete()
    await testbed.cluster.advance(900)
    found = await testbed.get()
    assert condition(found, "Deleting") == ("True", "SecretNotShared")
    assert testbed.model.running == ["front", "wn"]
    hosts = "im.example.com:8800"
    await testbed.merge(f"{SECRETS}/im-cred", {"metadata": {"annotations": {HOSTS: hosts}}})
    await testbed.gone(within=1200)
    assert testbed.model.running == []
