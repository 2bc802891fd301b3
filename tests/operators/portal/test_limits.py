"""What is stored above a limit, as before the limit was, builds nothing and is told."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.apps import Deployment
from quintant.core.errors import Invalid
from quintant.operators.portal.api import GROUP, MOST_RELAYS, MOST_REPLICAS, TunnelClass
from testbeds.portal import PortalTestbed, condition

CLASSES = f"/apis/{GROUP}/v1alpha1/tunnelclasses"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SCHEMA = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
HUGE = 2**31 - 1


async def lift(testbed: PortalTestbed, plural: str, limit: str) -> None:
    """Take a limit out of a definition, as an older one has it, and the webhooks away."""
    await testbed.cluster.client.raw("DELETE", f"{HOOKS}/portal-validating-webhook-configuration")
    operation = {"op": "remove", "path": f"{SCHEMA}/{limit}"}
    await testbed.merge(f"{CRDS}/{plural}.{GROUP}", [operation], kind="json")


async def deployed(testbed: PortalTestbed) -> int | None:
    found = await testbed.cluster.client.find(Deployment, "shop-tunnel", "default")
    return found.spec.replicas if found is not None else None


async def test_a_class_above_its_limit_builds_nothing(testbed: PortalTestbed) -> None:
    await lift(testbed, "tunnelclasses", "replicas/maximum")
    await testbed.serve()
    await testbed.classed(replicas=HUGE)
    await testbed.expose()
    found = await testbed.phase("Failed")
    assert condition(found, "TunnelClassValid") == ("False", "InvalidTunnelClass")
    assert condition(found, "Available") == ("False", "InvalidTunnelClass")
    assert await deployed(testbed) is None
    reasons = await testbed.reasons()
    assert {"InvalidTunnelClass", "InvalidSpec"} <= set(reasons)
    held = await testbed.cluster.get(TunnelClass, "small", "")
    assert held.status is not None
    told = {each.type: each for each in held.status.conditions}["Valid"]
    assert (told.status, told.reason) == ("False", "InvalidSpec")
    assert str(MOST_REPLICAS) in told.message

    await testbed.merge(f"{CLASSES}/small", {"spec": {"replicas": 2}})
    found = await testbed.phase("Ready")
    assert condition(found, "TunnelClassValid") == ("True", "TunnelClassValid")
    assert await deployed(testbed) == 2


async def test_a_class_raised_above_its_limit_changes_nothing(testbed: PortalTestbed) -> None:
    await testbed.ready(replicas=2)
    await lift(testbed, "tunnelclasses", "replicas/maximum")
    await testbed.merge(f"{CLASSES}/small", {"spec": {"replicas": HUGE}})
    found = await testbed.phase("Failed")
    assert await deployed(testbed) == 2
    assert found.status is not None
    assert found.status.tunnel_pods is not None
    assert found.status.tunnel_pods.total == 2


async def test_more_relays_than_the_limit_build_nothing(testbed: PortalTestbed) -> None:
    await lift(testbed, "portalexposes", "relay/properties/targets/maxItems")
    await testbed.serve()
    await testbed.classed()
    await testbed.expose(relays=1000)
    found = await testbed.phase("Failed")
    assert condition(found, "Available") == ("False", "InvalidSpec")
    assert await deployed(testbed) is None
    assert found.status is not None
    assert found.status.relay is not None
    assert len(found.status.relay.connected) == MOST_RELAYS


@pytest.mark.parametrize(
    "change",
    [
        {"replicas": MOST_REPLICAS + 1},
        {"tolerations": [{"operator": "Exists"}] * 65},
        {"nodeSelector": {f"l{at}": "" for at in range(65)}},
        {"rateLimits": {"perVisitor": {"requestsPerSecond": 1_000_001}}},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_a_definition_refuses_what_a_slip_makes_huge(
    testbed: PortalTestbed, change: dict[str, Any]
) -> None:
    await testbed.classed()
    with pytest.raises(Invalid, match=next(iter(change))):
        await testbed.merge(f"{CLASSES}/small", {"spec": change})


async def test_a_definition_refuses_more_relays_than_the_limit(testbed: PortalTestbed) -> None:
    with pytest.raises(Invalid, match="targets"):
        await testbed.expose(relays=MOST_RELAYS + 1)
