"""Several members: each has its own PortalExposes, and what others hold is still seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

import pytest_asyncio

from quintant import Shards
from quintant.api.core import Secret
from quintant.core.codec import to_plain
from quintant.core.object import ObjectMeta
from quintant.core.owner import owned
from quintant.operators.portal.api import KEY_TYPE, PortalExpose
from quintant.operators.portal.api.claims import ExposeClaims
from quintant.operators.portal.builders import key_name
from testbeds.portal import (
    CLASSES,
    EXPOSES,
    PortalTestbed,
    condition,
    exposing,
    opened,
    series,
)

SHARDS = Shards(ranges=8)
FIRST_SECONDS = 40.0
"""A new map works after 17 s, and members that join count after 5 s of quiet."""
NAMES = tuple(f"shop-{number}" for number in range(6))
LONG_NAMES = tuple(f"{number}-".ljust(250, "x") for number in range(6))
"""Of these a child has a part alone in its name, and a hash."""


@pytest_asyncio.fixture
async def members() -> AsyncIterator[PortalTestbed]:
    """A testbed with two members."""
    async with opened(shards=SHARDS) as testbed:
        await testbed.start(shards=SHARDS)
        await testbed.cluster.advance(FIRST_SECONDS)
        await testbed.serve()
        await testbed.classed()
        yield testbed


async def test_a_key_of_an_expose_that_another_member_holds_is_a_conflict_and_not_tried_for_ever(
    members: PortalTestbed,
) -> None:
    other = await members.expose("other")
    for name in NAMES + LONG_NAMES:
        meta = ObjectMeta.like(other, name=key_name(name))
        theirs = Secret(metadata=meta, string_data={"key": "theirs"}, type=KEY_TYPE)
        await members.cluster.create(owned(theirs, by=other))
    for name in NAMES + LONG_NAMES:
        await members.expose(name, app="shop")
    for name in NAMES + LONG_NAMES:
        found = await members.phase("Failed", name)
        assert condition(found, "TunnelDeploymentReady") == ("False", "DeploymentConflict")


async def test_a_member_sees_what_exposes_of_others_claim_and_holds_them_not(
    members: PortalTestbed,
) -> None:
    for name in NAMES:
        await members.expose(name, app="shop")
        await members.phase("Ready", name)
    await members.expose("lost", tunnel_class="none")
    await members.phase("Failed", "lost")
    await members.cluster.advance(1)
    assert members.engine is not None
    caches = members.engine.caches
    held = set(caches.informer_for(PortalExpose).store.list_keys())
    viewed = set(caches.informer_for(ExposeClaims).store.list_keys())

    assert 0 < len(held) < len(viewed) == len(NAMES) + 1
    status, warned = await members.sent("POST", EXPOSES, to_plain(exposing("more", app="shop")))
    assert status == 201
    for name in NAMES:
        assert f"claimed by PortalExpose default/{name} already" in warned[0]
    status, warned = await members.sent("DELETE", f"{CLASSES}/small")
    assert status == 200
    for name in NAMES:
        assert f"default/{name}" in warned[0]


async def test_gauges_of_members_add_up_to_what_there_is(members: PortalTestbed) -> None:
    for name in NAMES:
        await members.expose(name)
        await members.phase("Ready", name)
    await members.cluster.advance(1)
    total: Counter[tuple[str, str]] = Counter()
    for engine in members.engines:
        total.update(series(engine))

    assert len(members.engines) == 2
    assert total["portalexpose_status_phase", "Ready"] == len(NAMES)
    assert total["portalexpose_relay_connections_total", "Connected"] == len(NAMES)
    assert total["tunnelclass_referenced_total", "small"] == len(NAMES)
