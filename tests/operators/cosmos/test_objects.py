"""What a CosmosFullNode consists of: the objects it owns, their names and what is in them."""

from __future__ import annotations

from quintant.api.core import ConfigMap, Service
from quintant.api.meta import condition_of
from quintant.api.pod import Pod
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.object import ObjectMeta
from testbeds.cosmos import NAMESPACE, CosmosTestbed, full_node


async def test_the_minimal_manifest_gives_twelve_objects(testbed: CosmosTestbed) -> None:
    app = "cosmoshub-mainnet"
    await testbed.run(name=app, replicas=2, chain={"skipInvariants": True})
    assert await testbed.owned(app) == {
        f"Service/{app}-p2p-0", f"Service/{app}-p2p-1", f"Service/{app}-rpc",
        f"ConfigMap/{app}-0", f"ConfigMap/{app}-1",
        f"ServiceAccount/{app}-vc-sa", f"Role/{app}-vc-r", f"RoleBinding/{app}-vc-rb",
        f"PersistentVolumeClaim/pvc-{app}-0", f"PersistentVolumeClaim/pvc-{app}-1",
        f"Pod/{app}-0", f"Pod/{app}-1",
    }  # fmt: skip
    first = await testbed.cluster.get(Service, f"{app}-p2p-0", NAMESPACE)
    assert (first.spec.type, first.spec.external_traffic_policy) == ("LoadBalancer", "Local")
    second = await testbed.cluster.get(Service, f"{app}-p2p-1", NAMESPACE)
    assert (second.spec.type, second.spec.external_traffic_policy) == ("ClusterIP", "")
    claim = await testbed.cluster.get(PersistentVolumeClaim, f"pvc-{app}-0", NAMESPACE)
    assert claim.spec.resources.requests["storage"] == "100Gi"
    pod = (await testbed.pods())[f"{app}-1"]
    assert pod.metadata.annotations["app.kubernetes.io/ordinal"] == "1"
    assert pod.spec.containers[0].args[-1] == "--x-crisis-skip-assert-invariants"


async def test_the_checksum_of_a_pod_is_the_revision_of_its_config_if_asked_for(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=1, strategy={"restartOnPeerChange": True})
    pod = (await testbed.pods())["hub-0"]
    config = await testbed.cluster.get(ConfigMap, "hub-0", NAMESPACE)
    assert (
        pod.metadata.annotations["cosmos.strange.love/config-checksum"]
        == (config.metadata.labels["app.kubernetes.io/revision"])
    )


PENDING = {"metadata": {"annotations": {"simulated.quintant.dev/load-balancer": "pending"}}}


async def test_a_load_balancer_without_an_address_is_waited_for(testbed: CosmosTestbed) -> None:
    await testbed.apply(full_node(replicas=2, service={"p2pTemplate": PENDING}))
    await testbed.phase("WaitingForP2PServices")
    await testbed.cluster.advance(60)
    assert (await testbed.reasons()).count("P2PIncomplete") == 1
    assert "external_address" not in (await testbed.data("hub-0"))["config-overlay.toml"]
    await testbed.change({"service": {"p2pTemplate": None}})
    found = await testbed.settled()
    service = await testbed.cluster.get(Service, "hub-p2p-0", NAMESPACE)
    outside = f"{service.status.load_balancer.ingress[0].ip}:26656"
    assert f'external_address = "{outside}"' in (await testbed.data("hub-0"))["config-overlay.toml"]
    assert f'external-address = "{outside}"' in (await testbed.data("hub-0"))["config-overlay.toml"]
    assert [name for _, name in testbed.deleted] == ["hub-0"]
    assert found.status is not None
    assert [peer.partition("@")[2] for peer in sorted(found.status.peers, key=len)] == [
        "0.0.0.0:26656", outside,
    ]  # fmt: skip


async def test_where_nothing_gives_addresses_it_is_complete_after_a_while_and_says_why(
    testbed: CosmosTestbed,
) -> None:
    await testbed.apply(full_node(replicas=2, service={"p2pTemplate": PENDING}))
    await testbed.phase("WaitingForP2PServices")
    found = await testbed.phase("Complete", within=700)
    assert found.status is not None
    told = condition_of(found.status.conditions, "PeersReady")
    assert told is not None
    assert (told.status, told.reason) == ("False", "NoLoadBalancer")
    assert "hub-p2p-0" in told.message
    assert "spec.service.maxP2PExternalAddresses" in told.message
    await testbed.cluster.advance(900)
    assert (await testbed.full_node()).status.phase == "Complete"  # type: ignore[union-attr]
    assert (await testbed.reasons()).count("NoLoadBalancer") == 1
    await testbed.change({"service": {"p2pTemplate": None}})
    await testbed.until(lambda it: "0.0.0.0" not in max(it.status.peers, key=len))  # type: ignore[union-attr]


async def test_a_sentry_has_five_services_and_no_probe(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2, type="Sentry")
    services = {each for each in await testbed.owned() if each.startswith("Service/")}
    assert services == {
        "Service/hub-p2p-0", "Service/hub-p2p-1", "Service/hub-privval-0",
        "Service/hub-privval-1", "Service/hub-rpc",
    }  # fmt: skip
    for pod in (await testbed.pods()).values():
        assert not any(each.readiness_probe for each in pod.spec.containers)
        assert pod.spec.containers[0].command == ("sh",)


async def test_a_full_node_becomes_a_sentry_without_a_new_identity(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    keys = [(await testbed.data(f"hub-{at}"))["node_key.json"] for at in range(2)]
    await testbed.change({"type": "Sentry"})
    await testbed.settled()
    assert "Service/hub-privval-1" in await testbed.owned()
    assert [(await testbed.data(f"hub-{at}"))["node_key.json"] for at in range(2)] == keys
    assert sorted(name for _, name in testbed.deleted) == ["hub-0", "hub-1"]


async def test_ordinals_begin_where_the_user_says(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, ordinals={"start": 2})
    assert set(await testbed.pods()) == {"hub-2", "hub-3", "hub-4"}
    assert (await testbed.cluster.get(Service, "hub-p2p-2", NAMESPACE)).spec.type == "LoadBalancer"


async def test_other_ports_are_followed_everywhere(testbed: CosmosTestbed) -> None:
    config = {"rpcListenAddress": "tcp://0.0.0.0:27147", "p2pListenAddress": "tcp://0.0.0.0:27146"}
    found = await testbed.run(replicas=2, chain={"config": config})
    assert found.status is not None
    assert all(peer.endswith(":27146") for peer in found.status.peers)
    node = (await testbed.pods())["hub-0"].spec.containers[0]
    assert node.readiness_probe is not None
    assert node.readiness_probe.http_get is not None
    assert node.readiness_probe.http_get.port == 27147


async def test_a_long_name_fits_everywhere(testbed: CosmosTestbed) -> None:
    long = "h" * 60 + "." + "x" * 192
    await testbed.run(name=long, replicas=1)
    for owned in await testbed.owned(long):
        kind, name = owned.split("/")
        assert len(name) <= (63 if kind == "Service" else 253)
    (pod,) = (await testbed.pods()).values()
    assert pod.metadata.name.endswith("-0")
    assert all(len(value) <= 63 for value in pod.metadata.labels.values())


async def test_labels_of_helm_do_not_hide_pods_from_the_rpc_service(testbed: CosmosTestbed) -> None:
    helm = {"labels": {"app.kubernetes.io/name": "chart", "app.kubernetes.io/instance": "release"}}
    await testbed.run(replicas=1, metadata=helm)
    service = await testbed.cluster.get(Service, "hub-rpc", NAMESPACE)
    pod = (await testbed.pods())["hub-0"]
    assert service.spec.selector.items() <= pod.metadata.labels.items()


async def test_pods_beside_nodes_are_made_and_not_asked(testbed: CosmosTestbed) -> None:
    beside = [{"name": "metrics", "containers": [{"name": "m", "image": "m:1"}]}]
    await testbed.run(replicas=2, additionalVersionedPods=beside)
    pods = await testbed.pods()
    assert set(pods) == {"hub-0", "hub-1", "metrics-0", "metrics-1"}
    service = await testbed.cluster.get(Service, "hub-rpc", NAMESPACE)
    assert not service.spec.selector.items() <= pods["metrics-0"].metadata.labels.items()
    await testbed.cluster.advance(30)
    assert testbed.node("metrics-0").asked == []


async def test_a_service_account_of_the_user_needs_none_of_ours(testbed: CosmosTestbed) -> None:
    await testbed.cluster.client.raw(
        "POST",
        f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
        body=b'{"metadata": {"name": "mine"}}',
    )
    await testbed.run(replicas=1, serviceAccountName="mine")
    owned = await testbed.owned()
    assert not [each for each in owned if each.split("/")[0] in ("ServiceAccount", "Role")]
    assert (await testbed.pods())["hub-0"].spec.service_account_name == "mine"


async def test_everything_goes_with_it_but_copies(testbed: CosmosTestbed) -> None:
    found = await testbed.run(replicas=2)
    spec = VolumeSnapshotSpec(source=VolumeSnapshotSource(persistent_volume_claim_name="pvc-hub-0"))
    await testbed.cluster.create(
        VolumeSnapshot(metadata=ObjectMeta(name="copy", namespace=NAMESPACE), spec=spec)
    )
    await testbed.cluster.client.delete(found)
    await testbed.cluster.advance(30)
    for kind in (Pod, Service, PersistentVolumeClaim):
        assert await testbed.cluster.client.list(kind, NAMESPACE) == []
    assert await testbed.cluster.client.find(VolumeSnapshot, "copy", NAMESPACE) is not None
    asked = len(testbed.node("hub-0").asked)
    await testbed.cluster.advance(30)
    assert len(testbed.node("hub-0").asked) == asked


async def test_a_schedule_without_a_full_node_waits_and_says_so(testbed: CosmosTestbed) -> None:
    await testbed.apply(
        {
            "apiVersion": "cosmos.strange.love/v1alpha1", "kind": "ScheduledVolumeSnapshot",
            "metadata": {"name": "nightly", "namespace": NAMESPACE},
            "spec": {"fullNodeRef": {"name": "hub"}, "schedule": "* * * * *", "deletePod": True,
                     "volumeSnapshotClassName": "standard"},
        }
    )  # fmt: skip
    await testbed.cluster.advance(180)
    assert (await testbed.reasons()).count("FullNodeNotFound") == 1
    assert await testbed.cluster.client.list(VolumeSnapshot, NAMESPACE) == []
