"""What a CosmosFullNode consists of: the objects it owns, their names and what is in them."""

from __future__ import annotations

from quintant.api.core import Service
from testbeds.cosmos import NAMESPACE, CosmosTestbed


async def test_the_minimal_manifest_gives_twelve_objects(testbed: CosmosTestbed) -> None:
    await testbed.run(name="cosmoshub-mainnet", replicas=2)
    app = "cosmoshub-mainnet"
    assert await testbed.owned(app) == {
        f"Service/{app}-p2p-0", f"Service/{app}-p2p-1", f"Service/{app}-rpc",
        f"ConfigMap/{app}-0", f"ConfigMap/{app}-1",
        f"ServiceAccount/{app}-vc-sa", f"Role/{app}-vc-r", f"RoleBinding/{app}-vc-rb",
        f"PersistentVolumeClaim/pvc-{app}-0", f"PersistentVolumeClaim/pvc-{app}-1",
        f"Pod/{app}-0", f"Pod/{app}-1",
    }  # fmt: skip
    first = await testbed.cluster.get(Service, f"{app}-p2p-0", NAMESPACE)
    assert (first.spec.type, first.spec.external_traffic_policy) == ("LoadBalancer", "Local")
