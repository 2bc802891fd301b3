"""The rights of infra: each is used in a busy week, or stands here with a reason."""

from __future__ import annotations

from quintant.api.core import Secret
from quintant.operators.infra.api import Cloud, Cluster, InfrastructureProvider
from quintant.testing import GrantedAccount
from quintant.testing.faults.match import kind
from testbeds.infra import InfraTestbed, template
from testbeds.rights import without_streams

Right = tuple[str, str]
"""A resource and a verb."""
PROVIDERS = ("infrastructureproviders", "globalinfrastructureproviders")
KINDS = ("clouds", "globalclouds", *PROVIDERS)
UNUSED: dict[Right, str] = {
    **{
        (each, "get"): "comes with a watch: for reads that a cache cannot answer"
        for each in PROVIDERS
    },
    **{
        (f"{each}/finalizers", "update"): "asked for by servers with"
        " OwnerReferencesPermissionEnforcement, of who sets an owner reference"
        for each in ("clusters", *KINDS)
    },
}
"""Rights that are granted, and that nothing here makes use of, with the reason for each."""
LEASES = {("leases", "create"), ("leases", "get"), ("leases", "patch")}


async def busy_week(testbed: InfraTestbed) -> None:
    """Whatever can happen to Clusters: here and elsewhere, small and large, healthy and not."""
    await testbed.provider("im", "")
    await testbed.cloud("far", "")
    await testbed.everything()
    large = template() | {"description": "x" * 300_000}
    # Somebody else writes first, once.
    testbed.cluster.faults.answer(409, when=kind(Cluster, name="two", sub="status"), times=1)
    await testbed.make("two", tosca=large, cloudRef={"kind": "GlobalCloud", "name": "far"})
    await testbed.state("ONLINE", "two")
    for _ in range(2):  # what is told twice is counted
        testbed.targets.down.add("made.example.com")
        await testbed.state("OFFLINE", within=300)
        testbed.targets.down.clear()
        await testbed.state("ONLINE")
    secret = await testbed.cluster.get(Secret, "one-kubeconfig")
    await testbed.merge(
        "/api/v1/namespaces/default/secrets/one-kubeconfig", {"stringData": {"value": "edited"}}
    )
    await testbed.cluster.eventually(
        Secret, "one-kubeconfig", until=lambda it: it.data == secret.data
    )
    # A server that cannot stream a first state is asked for it by pages.
    with testbed.cluster.faults.answer(422, when=without_streams):
        await testbed.restart()
        await testbed.cluster.advance(70)
    for name in ("one", "two"):
        await testbed.delete(name)
        await testbed.gone(name)
    await testbed.cluster.client.delete(await testbed.cluster.get(Cloud, "here"))
    await testbed.cluster.wait_deleted(Cloud, "here")
    await testbed.cluster.client.delete(await testbed.cluster.get(InfrastructureProvider, "im"))
    await testbed.cluster.wait_deleted(InfrastructureProvider, "im")


def used(account: GrantedAccount) -> set[Right]:
    audit = account.cluster.server.audit
    return {(each.resource, each.verb) for each in audit.used(account.user)}


async def test_every_right_is_used_and_none_is_missing(testbed: InfraTestbed) -> None:
    await busy_week(testbed)
    assert testbed.account is not None
    assert not testbed.account.denied()
    granted = {(each.resource, each.verb) for each in testbed.account.permissions}
    assert granted - used(testbed.account) == set(UNUSED)
    asked = {each for each in used(testbed.account) if not each[0].startswith("/")}
    assert asked <= granted


async def test_leader_has_its_lease_besides_and_nothing_else(testbed: InfraTestbed) -> None:
    await testbed.crash()
    await testbed.replica()
    await testbed.everything()
    assert testbed.elected is not None
    assert not testbed.elected.denied()
    granted = {(each.resource, each.verb) for each in testbed.elected.permissions}
    assert used(testbed.elected) - granted == LEASES
