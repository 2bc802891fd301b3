"""The key of a PortalExpose's tunnels: made once, theirs alone, gone with it."""

from __future__ import annotations

import base64

from quintant.api.core import Secret
from quintant.core.object import ObjectMeta
from quintant.core.owner import owned, owner_uid_of
from quintant.operators.portal.api import KEY_TYPE
from quintant.operators.portal.options import Options
from testbeds.portal import PortalTestbed, condition, opened

NAME = "shop-tunnel-key"


async def key(testbed: PortalTestbed) -> Secret | None:
    return await testbed.cluster.client.find(Secret, NAME, "default")


async def test_a_key_is_made_once_and_never_again(testbed: PortalTestbed) -> None:
    await testbed.ready(relays=1)
    made = await key(testbed)
    assert made is not None
    assert made.type == KEY_TYPE
    assert len(base64.b64decode(made.reveal("key"))) == 32
    await testbed.merge(
        "/apis/portal.gosuda.org/v1alpha1/namespaces/default/portalexposes/shop",
        {"spec": {"app": {"name": "other"}}},
        "merge",
    )
    await testbed.cluster.advance(30)
    again = await key(testbed)
    assert again is not None
    assert (again.metadata.uid, again.data) == (made.metadata.uid, made.data)


async def test_every_expose_has_a_key_of_its_own(testbed: PortalTestbed) -> None:
    await testbed.ready()
    await testbed.expose("other")
    await testbed.phase("Ready", "other")
    one = await key(testbed)
    other = await testbed.cluster.client.get(Secret, "other-tunnel-key", "default")
    assert one is not None
    assert one.data != other.data


async def test_a_key_that_was_deleted_is_made_anew(testbed: PortalTestbed) -> None:
    await testbed.ready()
    made = await key(testbed)
    assert made is not None
    await testbed.cluster.client.delete(made)
    await testbed.cluster.advance(5)
    again = await key(testbed)
    assert again is not None
    assert again.metadata.uid != made.metadata.uid


async def test_a_key_is_owned_by_its_expose_and_so_goes_with_it(testbed: PortalTestbed) -> None:
    expose = await testbed.ready()
    made = await key(testbed)
    assert made is not None
    (owner,) = made.metadata.owner_references
    assert (owner.kind, owner.uid) == ("PortalExpose", expose.metadata.uid)


async def test_a_secret_of_somebody_else_is_neither_used_nor_touched(
    testbed: PortalTestbed,
) -> None:
    theirs = Secret(metadata=ObjectMeta(name=NAME), string_data={"key": "theirs"}, type="Opaque")
    before = await testbed.cluster.create(theirs)
    await testbed.serve()
    await testbed.classed()
    await testbed.expose()
    found = await testbed.phase("Failed")
    assert condition(found, "TunnelDeploymentReady") == ("False", "DeploymentConflict")
    assert NAME in str([note for _, _, note in await testbed.events()])
    after = await key(testbed)
    assert after is not None
    assert after.metadata.resource_version == before.metadata.resource_version


async def test_a_key_of_another_expose_is_neither_used_nor_touched_and_made_when_it_is_gone(
    testbed: PortalTestbed,
) -> None:
    await testbed.serve()
    await testbed.classed()
    other = await testbed.expose("other")
    theirs = Secret(
        metadata=ObjectMeta.like(other, name=NAME), string_data={"key": "theirs"}, type=KEY_TYPE
    )
    before = await testbed.cluster.create(owned(theirs, by=other))
    await testbed.expose()
    found = await testbed.phase("Failed")
    assert condition(found, "TunnelDeploymentReady") == ("False", "DeploymentConflict")
    assert await key(testbed) == before
    await testbed.cluster.client.delete(before)
    await testbed.phase("Ready")
    made = await key(testbed)
    assert made is not None
    assert owner_uid_of(made) == found.metadata.uid


async def test_an_image_that_tells_nothing_gets_no_key() -> None:
    options = Options(tunnel_image="ghcr.io/gosuda/portal-tunnel:1.0.0",
                      relay_status_source="assume", enable_webhooks=False)  # fmt: skip
    async with opened(options) as testbed:
        await testbed.serve()
        await testbed.classed()
        await testbed.expose()
        await testbed.phase("Pending")
        await testbed.cluster.advance(10)
        assert await testbed.deployment()
        assert await key(testbed) is None
