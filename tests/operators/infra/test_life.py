"""The life of a Cluster: created, online, scaled, at rest, gone."""

from __future__ import annotations

from copy import deepcopy

import pytest

from quintant.api.core import Secret
from quintant.core.errors import Invalid
from quintant.operators.infra.api import FINALIZER, LEGACY_FINALIZER, Cluster
from quintant.operators.infra.plan.diff import digest
from testbeds.infra import KUBECONFIG, InfraTestbed, condition, template


async def test_cluster_goes_from_pending_to_online(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud()
    await testbed.make()
    assert await testbed.states_of(seconds=40) == ["PENDING", "CREATING", "CONNECTING", "ONLINE"]
    assert testbed.model.creations() == 1
    assert testbed.model.running == ["front", "wn"]
    secret = await testbed.cluster.get(Secret, "one-kubeconfig")
    assert b"made.example.com" in secret.reveal("value")
    found = await testbed.get()
    assert found.metadata.finalizers == (FINALIZER,)
    assert found.status is not None
    assert found.status.api_server_endpoint == "https://made.example.com:6443"
    assert found.status.nodes is not None
    assert (found.status.nodes.total, found.status.nodes.ready) == (2, 2)
    assert [each.addresses for each in found.status.infrastructure.vms] == [  # type: ignore[union-attr]
        ("10.0.0.1",), ("10.0.0.2",)
    ]  # fmt: skip
    for type in ("Scheduled", "CloudResolved", "TemplateValid", "Synced", "InfrastructureReady",
                 "KubeconfigReady", "APIServerReachable", "NodesHealthy", "Ready"):  # fmt: skip
        assert condition(found, type)[0] == "True", type
    told = await testbed.reasons()
    assert [each for each in told if each in ("Scheduled", "Creating", "Created", "Online")] == [
        "Scheduled", "Creating", "Created", "Online"
    ]  # fmt: skip


async def test_order_of_creation_does_not_matter(testbed: InfraTestbed) -> None:
    await testbed.make()
    await testbed.cluster.advance(5)
    assert condition(await testbed.get(), "Scheduled") == ("False", "NoMatchingCloud")
    await testbed.cloud()
    await testbed.cluster.advance(5)
    assert (await testbed.get()).status.state == "PENDING"  # type: ignore[union-attr]
    await testbed.provider()
    await testbed.condition("Scheduled", "True", within=5)
    await testbed.state("ONLINE", within=40)
    assert testbed.model.creations() == 1


async def test_right_after_the_request_it_runs_where_it_was_bound(testbed: InfraTestbed) -> None:
    testbed.model.faults.prepare = 60
    await testbed.provider()
    await testbed.cloud()
    await testbed.make()
    found = await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: bool(it.status and it.status.cluster_id)
    )
    status = found.status
    assert status is not None
    assert status.running_on is not None
    assert status.scheduled_to is not None
    assert (status.running_on.kind, status.running_on.name) == ("Cloud", "here")
    assert (status.scheduled_to.kind, status.scheduled_to.name) == ("Cloud", "here")
    assert status.last_applied_tosca is not None
    assert found.spec.tosca is not None
    assert status.last_applied_tosca.value == found.spec.tosca.value
    assert status.state == "CREATING"
    assert testbed.model.only().machines == {}


async def test_cluster_is_scaled_up_and_down(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.scale(3)
    await testbed.state("RECONCILING", within=10)
    assert await testbed.states_of(seconds=30) == ["RECONCILING", "CONNECTING", "ONLINE"]
    assert testbed.model.running == ["front", "wn", "wn", "wn"]
    found = await testbed.get()
    assert found.spec.tosca is not None
    assert found.status is not None
    assert found.status.last_applied_hash == digest(found.spec.tosca.value)
    assert found.status.last_applied_tosca == found.spec.tosca
    await testbed.scale(1)
    await testbed.state("RECONCILING", within=10)
    await testbed.state("ONLINE", within=40)
    assert testbed.model.running == ["front", "wn"]
    scaled = [note for _, reason, note in await testbed.events() if reason == "Scaled"]
    assert scaled == ["wn: from 1 to 3 machines", "wn: from 3 to 1 machines"]
    assert testbed.model.creations() == 1


async def test_same_template_in_another_order_calls_nobody(testbed: InfraTestbed) -> None:
    await testbed.everything()
    document = template()
    turned = {key: document[key] for key in reversed(document)}
    await testbed.edit(tosca=turned)
    await testbed.cluster.advance(120)
    assert testbed.model.count("update") == 0


async def test_order_of_a_list_is_a_difference(testbed: InfraTestbed) -> None:
    document = template()
    outputs = document["topology_template"]["outputs"]
    outputs["said"] = {"value": {"concat": ["a", "b"]}}
    await testbed.everything(tosca=document)
    changed = deepcopy(document)
    changed["topology_template"]["outputs"]["said"] = {"value": {"concat": ["b", "a"]}}
    await testbed.edit(tosca=changed)
    await testbed.state("RECONCILING", within=10)
    await testbed.state("ONLINE")
    await testbed.cluster.advance(120)
    assert testbed.model.count("update") == 1


async def test_output_that_changes_changes_the_secret_and_no_machine(testbed: InfraTestbed) -> None:
    await testbed.everything()
    moved = KUBECONFIG.replace("SERVER", "moved.example.com")
    inputs = {"kubeconfig": {"default": moved}}
    await testbed.edit(tosca={"topology_template": {"inputs": inputs}})
    await testbed.state("RECONCILING", within=10)
    await testbed.state("ONLINE")
    secret = await testbed.cluster.get(Secret, "one-kubeconfig")
    assert secret.reveal("value").decode() == moved
    assert len(testbed.model.only().machines) == 2


async def test_template_that_is_too_large_for_a_status_is_kept_in_a_secret(
    testbed: InfraTestbed,
) -> None:
    document = template()
    document["description"] = "x" * 300_000
    await testbed.everything(tosca=document)
    found = await testbed.get()
    assert found.status is not None
    assert found.status.last_applied_tosca is None
    assert found.status.last_applied_hash == digest(document)
    assert found.status.last_applied_ref is not None
    assert found.status.infrastructure is not None
    assert found.status.infrastructure.wanted == 2
    await testbed.scale(3)
    await testbed.state("RECONCILING", within=10)
    await testbed.state("ONLINE")
    scaled = [note for _, reason, note in await testbed.events() if reason == "Scaled"]
    assert scaled == ["wn: from 1 to 3 machines"]
    await testbed.edit(tosca={"description": None})
    await testbed.state("RECONCILING", within=10)
    found = await testbed.state("ONLINE")
    assert found.status is not None
    assert found.status.last_applied_tosca == found.spec.tosca
    assert found.status.last_applied_ref is None
    await testbed.delete()
    await testbed.gone()


async def test_deletion_leaves_nothing(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.delete()
    await testbed.delete()
    await testbed.state("DELETING", within=5)
    await testbed.gone()
    assert testbed.model.running == []
    assert testbed.model.infrastructures == {}
    assert await testbed.cluster.client.find(Secret, "one-kubeconfig", "default") is None
    assert "Deleted" in await testbed.reasons()


async def test_cluster_that_was_never_bound_goes_at_once(testbed: InfraTestbed) -> None:
    await testbed.make()
    await testbed.cluster.advance(2)
    await testbed.delete()
    await testbed.gone(within=5)


async def test_registered_cluster_is_only_looked_at(testbed: InfraTestbed) -> None:
    given = KUBECONFIG.replace("SERVER", "given.example.com")
    await testbed.secret("given", value=given)
    await testbed.create(
        {
            "apiVersion": "infra.quintant.dev/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": "one", "namespace": "default"},
            "spec": {"kubeconfigSecretRef": {"name": "given"}},
        }
    )
    found = await testbed.state("ONLINE", within=20)
    assert found.metadata.finalizers == ()
    testbed.targets.down.add("given.example.com")
    await testbed.state("DEGRADED", within=60)
    await testbed.state("OFFLINE", within=120)
    assert testbed.model.calls == []
    await testbed.delete()
    await testbed.gone(within=5)


async def test_nothing_is_written_at_rest_and_little_is_asked(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.cluster.advance(70)
    before, asked = await testbed.get(), len(testbed.model.calls)
    looks = testbed.model.count("images", "list")
    await testbed.cluster.advance(1200)
    after = await testbed.get()
    assert after.metadata.resource_version == before.metadata.resource_version
    probes = testbed.model.count("images", "list") - looks
    assert len(testbed.model.calls) - asked - probes <= 20 * 1.2


async def test_restart_creates_and_writes_nothing(testbed: InfraTestbed) -> None:
    await testbed.everything()
    await testbed.cluster.advance(70)
    before = await testbed.get()
    await testbed.restart()
    await testbed.cluster.advance(200)
    after = await testbed.get()
    assert after.metadata.resource_version == before.metadata.resource_version
    assert testbed.model.creations() == 1


async def test_finalizer_of_the_document_counts_and_is_replaced(testbed: InfraTestbed) -> None:
    await testbed.everything()
    path = "/apis/infra.quintant.dev/v1alpha1/namespaces/default/clusters/one"
    await testbed.crash()
    await testbed.merge(path, {"metadata": {"finalizers": [LEGACY_FINALIZER, "example.dev/other"]}})
    await testbed.start()
    await testbed.cluster.eventually(
        Cluster,
        "one",
        until=lambda it: set(it.metadata.finalizers) == {FINALIZER, "example.dev/other"},
    )
    await testbed.crash()
    await testbed.merge(path, {"metadata": {"finalizers": [LEGACY_FINALIZER, "example.dev/other"]}})
    await testbed.delete()
    await testbed.start()
    await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: it.metadata.finalizers == ("example.dev/other",), within=60
    )
    assert testbed.model.infrastructures == {}


TEMPLATES_REFUSED = {
    "nothing": ({}, "spec.tosca"),
    "no outputs": (
        {"tosca": {"tosca_definitions_version": "1", "topology_template": {}}},
        "spec.tosca.topology_template.outputs",
    ),
    "no kubeconfig": (
        {"tosca": {"tosca_definitions_version": "1", "topology_template": {"outputs": {}}}},
        "spec.tosca.topology_template.outputs.kubeconfig",
    ),
    "no version": (
        {"tosca": {"topology_template": {"outputs": {"kubeconfig": {}}}}},
        "spec.tosca.tosca_definitions_version",
    ),
}


@pytest.mark.parametrize("name", TEMPLATES_REFUSED)
async def test_api_server_refuses_a_cluster_with(testbed: InfraTestbed, name: str) -> None:
    spec, field = TEMPLATES_REFUSED[name]
    document = {
        "apiVersion": "infra.quintant.dev/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "one", "namespace": "default"},
        "spec": spec,
    }
    with pytest.raises(Invalid) as refused:
        await testbed.create(document)
    assert field in {cause.field for cause in refused.value.causes}


async def test_template_cannot_be_taken_away(testbed: InfraTestbed) -> None:
    await testbed.everything()
    with pytest.raises(Invalid) as refused:
        await testbed.edit(tosca=None, kubeconfigSecretRef={"name": "x"})
    assert "tosca cannot be taken away" in str(refused.value)


async def test_metrics_are_refused_until_they_are_built(testbed: InfraTestbed) -> None:
    for spec in ({"metrics": {"a": 1}}, {"inheritMetrics": True}):
        with pytest.raises(Invalid) as refused:
            await testbed.make(**spec)
        assert "not supported yet" in str(refused.value)


async def test_global_cloud_needs_a_global_provider(testbed: InfraTestbed) -> None:
    with pytest.raises(Invalid) as refused:
        await testbed.cloud("far", "", providerRef={"kind": "InfrastructureProvider", "name": "im"})
    assert "spec.providerRef.kind" in {cause.field for cause in refused.value.causes}


async def test_what_happens_is_counted(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.faults.lost_answers = 1
    await testbed.make("two")
    await testbed.state("ONLINE", "two")
    assert testbed.engine is not None
    text = testbed.engine.metrics.render().decode()
    for line in (
        'infra_cluster_state{state="ONLINE"} 2',
        'infra_bound_clusters{cloud="Cloud/here"} 2',
        'infra_provider_up{namespace="default",provider="im"} 1',
        "infra_adoptions_total 1",
        "infra_operation_seconds_count 2",
    ):
        assert line in text, line
