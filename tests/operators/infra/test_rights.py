"""The rights of infra: each is used in a busy week or has its reason; none is lacking."""

from __future__ import annotations

from quintant.api.core import Secret
from quintant.operators.infra.api import Cloud, Cluster, InfrastructureProvider
from quintant.testing.faults.match import kind
from testbeds.infra import InfraTestbed, tear_away, template
from testbeds.infra_rights import UNUSED
from testbeds.rights import rights_missing, rights_of, rights_used, without_streams


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
    # A Cluster is lost, and created again: the new one takes over what the old one had.
    lost = await testbed.get()
    await tear_away(testbed.cluster.client, lost)
    await testbed.cluster.wait_deleted(Cluster, "one")
    await testbed.make(adoptInfrastructureID="inf-1")
    await testbed.state("ONLINE")
    for name in ("one", "two"):
        await testbed.delete(name)
        await testbed.gone(name)
    await testbed.cluster.client.delete(await testbed.cluster.get(Cloud, "here"))
    await testbed.cluster.wait_deleted(Cloud, "here")
    await testbed.cluster.client.delete(await testbed.cluster.get(InfrastructureProvider, "im"))
    await testbed.cluster.wait_deleted(InfrastructureProvider, "im")


async def test_every_right_is_used_or_accounted_for_and_none_is_missing(
    testbed: InfraTestbed,
) -> None:
    await busy_week(testbed)
    await testbed.crash()
    await testbed.replica()  # it has to be elected, and again
    await testbed.cluster.advance(60)
    for account in (testbed.account, testbed.elected):
        assert account is not None
        assert not account.denied()
    sent, held = testbed.cluster.faults.calls, rights_of("infra")
    assert rights_missing(sent, held) == set()
    assert held - rights_used(sent) == set(UNUSED)
