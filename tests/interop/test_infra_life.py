"""infra beside the real Infrastructure Manager: how Clusters are bound, changed, moved, and read.

Names begin with the numbers of the scenarios that they are.
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

import msgspec

import patience
from infrastructure_manager import DummyFaults, InfrastructureManager
from quintant.api.core import Secret
from quintant.operators.infra.api import FINALIZER, LEGACY_FINALIZER, Cloud, Cluster
from testbeds.infra import KUBECONFIG, PASSWORD
from testbeds.infra_real import REAL_OPTIONS, RealInfraTestbed, opened_at, real_template
from testbeds.infrastructures import Infrastructures, dummy_record, eventually
from testbeds.provider_proxy import ProviderProxy

HOST = "made.example.com"
MANY = 40
MOVED = KUBECONFIG.replace("SERVER", "moved.example.com")


def bound_to(cluster: Cluster) -> str:
    assert cluster.status is not None
    assert cluster.status.scheduled_to is not None
    return f"{cluster.status.scheduled_to.kind} {cluster.status.scheduled_to.name}"


def labels(*expressions: str) -> dict[str, Any]:
    return {"constraints": {"cloud": {"labels": list(expressions)}}}


async def test_2_3_4_46_clusters_find_their_clouds(real_infra: RealInfraTestbed) -> None:
    await real_infra.make("late", **labels("location is DE"))
    await real_infra.condition("Scheduled", "False", "NoMatchingCloud", name="late")
    await real_infra.provider("im", "")
    await real_infra.cloud("far", "", labels={"location": "DE"})
    await real_infra.state("ONLINE", name="late")
    assert bound_to(await real_infra.get("late")) == "GlobalCloud far"
    # A namespaced cloud may use a global provider; its name may begin with a digit.
    ref = {"kind": "GlobalInfrastructureProvider", "name": "im"}
    near = {"location": "DE", "tier": "gold"}
    await real_infra.cloud("0-here", labels=near, providerRef=ref)
    await real_infra.cluster.eventually(
        Cloud, "0-here", until=lambda it: bool(it.status and it.status.conditions)
    )
    await real_infra.make("near", **labels("location in (DE, FR)", "tier is not silver"))
    await real_infra.state("ONLINE", name="near")
    assert bound_to(await real_infra.get("near")) == "Cloud 0-here"
    await real_infra.make("bad", **labels("location likes DE"))
    await real_infra.condition("Scheduled", "False", "InvalidConstraint", name="bad")
    await real_infra.make("none", **labels("rack is not 7"))
    await real_infra.condition("Scheduled", "False", "NoMatchingCloud", name="none")
    for name in ("late", "near", "bad", "none"):
        await real_infra.end(name)


async def test_7_8_only_differences_are_sent(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    tosca = real_template()
    tosca["topology_template"]["outputs"]["said"] = {"value": {"concat": ["a", "b"]}}
    await real_infra.online(tosca=tosca)
    machines = len(await _machines(real_infra))
    await real_infra.edit(tosca={key: tosca[key] for key in reversed(tosca)})
    await asyncio.sleep(2 * REAL_OPTIONS.observe_interval)
    assert provider_proxy.updates == 0
    turned = deepcopy(tosca)
    turned["topology_template"]["outputs"]["said"] = {"value": {"concat": ["b", "a"]}}
    await real_infra.edit(tosca=turned)
    await real_infra.state("RECONCILING")
    await real_infra.state("ONLINE")
    assert provider_proxy.updates == 1
    inputs = {"kubeconfig": {"default": MOVED}}
    await real_infra.edit(tosca={"topology_template": {"inputs": inputs}})
    await real_infra.cluster.eventually(
        Secret,
        "one-kubeconfig",
        until=lambda it: it.reveal("value").decode() == MOVED,
        within=patience.seconds(60),
    )
    await real_infra.state("ONLINE")
    assert len(await _machines(real_infra)) == machines
    await real_infra.end()


async def _machines(testbed: RealInfraTestbed, name: str = "one") -> list[str]:
    found = await testbed.get(name)
    assert found.status is not None
    assert found.status.infrastructure is not None
    return [each.id for each in found.status.infrastructure.vms]


async def test_9_registered_cluster_is_only_looked_at(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    await real_infra.secret("given", value=KUBECONFIG.replace("SERVER", "given.example.com"))
    await real_infra.create(
        {
            "apiVersion": "infra.quintant.dev/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": "one", "namespace": "default"},
            "spec": {"kubeconfigSecretRef": {"name": "given"}, "observer": {"interval": "1s"}},
        }
    )
    found = await real_infra.state("ONLINE")
    assert found.metadata.finalizers == ()
    real_infra.targets.down.add("given.example.com")
    await real_infra.state("OFFLINE")
    await real_infra.end()
    assert provider_proxy.asked == 0


async def test_pending_at_the_provider_it_runs_where_it_was_bound(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    dummy_manager.set_faults(DummyFaults(prepare_delay=5))
    await real_infra.ready()
    await real_infra.make()
    await real_infra.created()
    found = await real_infra.get()
    assert found.status is not None
    assert found.status.state == "CREATING"
    assert bound_to(found) == "Cloud here"
    assert found.status.running_on is not None
    assert found.status.running_on.name == "here"
    assert found.status.last_applied_tosca == found.spec.tosca
    await real_infra.end()


async def test_18_edit_while_it_is_created_is_applied_afterwards(
    real_infra: RealInfraTestbed,
    provider_proxy: ProviderProxy,
    dummy_manager: InfrastructureManager,
) -> None:
    dummy_manager.set_faults(DummyFaults(launch_delay=5))
    await real_infra.ready()
    await real_infra.make()
    await real_infra.created()
    await real_infra.scale(3)

    async def four() -> bool:
        found = await real_infra.get()
        assert found.status is not None
        return found.status.state == "ONLINE" and len(await _machines(real_infra)) == 4

    await eventually(four)
    assert provider_proxy.creates == 1
    await real_infra.end()


async def test_38_deletion_is_never_shown_as_a_failure(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    await real_infra.online(workers=3)
    dummy_manager.set_faults(DummyFaults(destroy_delay=1))
    await real_infra.delete()
    assert set(await real_infra.states_of(seconds=120)) <= {"ONLINE", "DELETING"}


async def test_42_53_kubeconfigs_of_every_shape(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    good = KUBECONFIG.replace("SERVER", HOST)
    program = good.replace('token: "made-cluster-token"', "exec: {command: id, apiVersion: x}")
    second = good.replace("contexts: [", "contexts: [{name: b, context: {cluster: made}}, ")
    await real_infra.ready()
    shapes = {
        "wrapped": msgspec.json.encode({"msg": good}).decode(),
        "program": program,
        "contexts": second,
        "metadata": KUBECONFIG.replace("SERVER", "169.254.169.254"),
        "nobody": KUBECONFIG.replace("SERVER", "None"),
    }
    for name, text in shapes.items():
        tosca = real_template()
        tosca["topology_template"]["inputs"]["kubeconfig"]["default"] = text
        await real_infra.make(name, tosca=tosca)
    await real_infra.state("ONLINE", name="wrapped")
    for name in ("program", "contexts", "metadata"):
        await real_infra.condition("KubeconfigReady", "False", "KubeconfigInvalid", name=name)
    await real_infra.condition("KubeconfigReady", "False", "KubeconfigMissing", name="nobody")
    for name in shapes:
        secret = await real_infra.cluster.client.find(Secret, f"{name}-kubeconfig", "default")
        assert (secret is not None) == (name == "wrapped")
        await real_infra.end(name)


async def test_43_secret_that_was_deleted_or_edited_is_restored(
    real_infra: RealInfraTestbed,
) -> None:
    await real_infra.online()
    secret = await real_infra.cluster.get(Secret, "one-kubeconfig")
    wanted = secret.reveal("value")
    await real_infra.cluster.client.delete(secret)
    within = patience.seconds(60)
    found = await real_infra.cluster.eventually(Secret, "one-kubeconfig", within=within)
    assert found.reveal("value") == wanted
    path = "/api/v1/namespaces/default/secrets/one-kubeconfig"
    await real_infra.merge(path, {"stringData": {"value": "mine"}})
    await real_infra.cluster.eventually(
        Secret, "one-kubeconfig", until=lambda it: it.reveal("value") == wanted, within=within
    )
    await real_infra.end()


async def test_44_cluster_out_of_reach_is_degraded_then_offline_then_connecting(
    real_infra: RealInfraTestbed,
) -> None:
    await real_infra.online(observer={"interval": "2s"})
    real_infra.targets.down.add(HOST)
    await real_infra.state("DEGRADED")
    await real_infra.state("OFFLINE")
    real_infra.targets.down.clear()
    await real_infra.state("CONNECTING")
    await real_infra.state("ONLINE")
    await real_infra.end()


async def test_address_that_moved_is_read_again_without_any_change(
    real_infra: RealInfraTestbed,
    provider_proxy: ProviderProxy,
    dummy_manager: InfrastructureManager,
) -> None:
    id = await real_infra.online(observer={"interval": "2s"})
    tosca = real_template()
    tosca["topology_template"]["inputs"]["kubeconfig"]["default"] = MOVED
    async with _same_user(real_infra, dummy_manager) as others:
        assert (await others.update(id, msgspec.json.encode(tosca).decode())).status == 200
    real_infra.targets.down.add(HOST)
    await real_infra.state("OFFLINE")
    await real_infra.state("CONNECTING")
    found = await real_infra.state("ONLINE")
    assert found.status is not None
    assert found.status.api_server_endpoint == "https://moved.example.com:6443"
    assert (provider_proxy.creates, provider_proxy.updates) == (1, 0)
    await real_infra.end()


def _same_user(testbed: RealInfraTestbed, manager: InfrastructureManager) -> Any:
    """What a test asks IM itself, as the very user that the operator is."""
    record = dummy_record("c.here")
    return Infrastructures.at(manager.url, record, user=testbed.user, password=PASSWORD)


async def test_45_password_arrives_as_it_is(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    id = await real_infra.online()
    async with _same_user(real_infra, dummy_manager) as same:
        assert await same.ids() == [id]
    await real_infra.end()


async def test_47_paused_cluster_is_left_alone_and_held(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    await real_infra.online()
    await real_infra.edit(paused=True)
    await real_infra.condition("Paused", "True")
    deleted = provider_proxy.count("DELETE")
    await real_infra.scale(3)
    await real_infra.delete()
    await asyncio.sleep(2 * REAL_OPTIONS.observe_interval)
    assert (provider_proxy.updates, provider_proxy.count("DELETE")) == (0, deleted)
    await real_infra.edit(paused=False)
    await real_infra.gone()


async def test_47_57_cluster_is_moved_to_another_management_cluster(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    id = await real_infra.online(deletionPolicy="Orphan")
    await real_infra.end()
    async with opened_at(provider_proxy.url, user=real_infra.user) as there:
        await there.ready()
        await there.make("two", adoptInfrastructureID=id)
        await there.state("ONLINE", name="two")
        assert await there.created("two") == id
        assert (provider_proxy.creates, provider_proxy.updates) == (1, 0)
        await there.end("two")


async def test_48_what_im_keeps_of_a_template_is_told(real_infra: RealInfraTestbed) -> None:
    tosca = real_template()
    nodes = tosca["topology_template"]["node_templates"]
    nodes["db"] = deepcopy(nodes["front"])
    await real_infra.online(tosca=tosca)
    await real_infra.edit(tosca={"topology_template": {"node_templates": {"db": None}}})
    found = await real_infra.condition("TemplateDrift", "True")
    assert "/topology_template/node_templates/db" in str(found.status)
    await real_infra.end()


async def test_49_finalizer_of_the_document_counts(real_infra: RealInfraTestbed) -> None:
    await real_infra.online()
    path = "/apis/infra.quintant.dev/v1alpha1/namespaces/default/clusters/one"
    held = {"metadata": {"finalizers": [LEGACY_FINALIZER, "example.dev/other"]}}
    await real_infra.crash()
    await real_infra.merge(path, held)
    await real_infra.start()
    both = {FINALIZER, "example.dev/other"}
    within = patience.seconds(60)
    await real_infra.cluster.eventually(
        Cluster, "one", until=lambda it: set(it.metadata.finalizers) == both, within=within
    )
    await real_infra.delete()
    await real_infra.cluster.eventually(
        Cluster,
        "one",
        until=lambda it: it.metadata.finalizers == ("example.dev/other",),
        within=within,
    )


async def test_50_many_at_rest_ask_little_and_write_nothing(provider_proxy: ProviderProxy) -> None:
    options = msgspec.structs.replace(REAL_OPTIONS, observe_interval=60.0)
    async with opened_at(provider_proxy.url, options=options) as testbed:
        await testbed.ready()
        names = [f"c{number}" for number in range(MANY)]
        for name in names:
            await testbed.make(name)
        for name in names:
            await testbed.state("ONLINE", name=name, within=180)
        before = [(await testbed.get(name)).metadata.resource_version for name in names]
        await testbed.restart()
        await asyncio.sleep(10)
        asked = provider_proxy.asked
        await asyncio.sleep(30)
        assert provider_proxy.asked - asked <= MANY * 30 / 60 * 1.5
        after = [(await testbed.get(name)).metadata.resource_version for name in names]
        assert after == before
        assert provider_proxy.creates == MANY
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(testbed.end(name))


async def test_54_cluster_that_does_not_fit_its_type_is_held_until_it_is_mended(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    await real_infra.online()
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    loose = {"name": "v1alpha1", "served": True, "storage": True, "subresources": {"status": {}}}
    definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
    versions = [{**loose, "schema": {"openAPIV3Schema": schema}}]
    crd = f"{definition}clusters.infra.quintant.dev"
    await real_infra.merge(crd, {"spec": {"versions": versions}})
    await real_infra.edit(paused="perhaps")
    path = "/apis/infra.quintant.dev/v1alpha1/namespaces/default/clusters/one"
    await real_infra.cluster.client.raw("DELETE", path)

    async def told() -> bool:
        return "CleanupBlocked" in await real_infra.reasons()

    await eventually(told)
    assert provider_proxy.count("DELETE") == 0
    await real_infra.edit(paused=False)
    await real_infra.gone()
