"""A Secret of a namespace is shown to no relay that it does not name itself."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from quintant.api.apps import Deployment
from quintant.api.core import Secret
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal.api import (
    TOKEN_RELAYS,
    TOKEN_TYPE,
    PortalExpose,
    RelaySpec,
    RelayTarget,
    SecretKey,
)
from testbeds.portal import PortalTestbed, condition, exposing, opened

HOST = "relay.example.com"


@pytest_asyncio.fixture
async def testbed() -> AsyncIterator[PortalTestbed]:
    async with opened() as found:
        await found.serve()
        await found.classed()
        yield found


async def put_secret(testbed: PortalTestbed, type: str, relays: str = "") -> None:
    noted = {TOKEN_RELAYS: relays} if relays else {}
    meta = ObjectMeta(name="keys", namespace="default", annotations=noted)
    await testbed.cluster.create(Secret(metadata=meta, type=type, string_data={"token": "x9x"}))


async def expose(testbed: PortalTestbed) -> None:
    target = RelayTarget(
        name="main", url=f"wss://{HOST}/relay", auth_secret_ref=SecretKey(name="keys")
    )
    plain = exposing()
    spec = replace(plain.spec, relay=RelaySpec(targets=(target,)))
    await testbed.cluster.create(replace(plain, spec=spec))


async def refused(testbed: PortalTestbed) -> PortalExpose:
    found = await testbed.phase("Failed")
    assert condition(found, "RelayTokenShared") == ("False", "RelayTokenNotShared")
    assert condition(found, "Available") == ("False", "RelayTokenNotShared")
    assert await testbed.cluster.client.find(Deployment, "shop-tunnel", "default") is None
    return found


@pytest.mark.parametrize(
    ("type", "relays"),
    [
        ("Opaque", ""),
        ("Opaque", HOST),
        ("example.com/database", HOST),
        (TOKEN_TYPE, ""),
        (TOKEN_TYPE, "other.example.com"),
        (TOKEN_TYPE, f"{HOST}.evil.org,{HOST}:8443"),
    ],
)
async def test_a_secret_that_does_not_name_the_relay_is_not_handed_to_it(
    testbed: PortalTestbed, type: str, relays: str
) -> None:
    await put_secret(testbed, type, relays)
    await expose(testbed)
    found = await refused(testbed)
    assert found.status is not None
    (said,) = [each.message for each in found.status.conditions if each.type == "RelayTokenShared"]
    assert f"{TOKEN_RELAYS}: {HOST}" in said, "what to do is said"
    assert "x9x" not in said
    assert "RelayTokenNotShared" in await testbed.reasons()


async def test_a_secret_that_names_the_relay_is_used_as_soon_as_it_does(
    testbed: PortalTestbed,
) -> None:
    await expose(testbed)
    await refused(testbed)
    await put_secret(testbed, TOKEN_TYPE, f"other.example.com, {HOST}")
    found = await testbed.phase("Ready")
    assert condition(found, "RelayTokenShared") == ("True", "RelayTokenShared")


async def test_another_relay_does_not_get_the_secret_by_an_edit(testbed: PortalTestbed) -> None:
    await put_secret(testbed, TOKEN_TYPE, HOST)
    await expose(testbed)
    await testbed.phase("Ready")
    target = {
        "name": "main",
        "url": "wss://evil.example.org/relay",
        "authSecretRef": {"name": "keys"},
    }
    await testbed.merge(
        "/apis/portal.gosuda.org/v1alpha1/namespaces/default/portalexposes/shop",
        {"spec": {"relay": {"targets": [target]}}},
    )
    found = await testbed.phase("Failed")
    assert condition(found, "RelayTokenShared") == ("False", "RelayTokenNotShared")
    deployment = await testbed.deployment()
    assert "evil.example.org" not in str(deployment.spec.template)
