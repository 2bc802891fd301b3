"""Several members: each has its own PortalExposes, and what others hold is still seen."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from quintant import Shards
from quintant.api.core import Secret
from quintant.core.object import ObjectMeta
from quintant.core.owner import owned
from quintant.operators.portal.api import KEY_TYPE
from quintant.operators.portal.builders import key_name
from testbeds.portal import PortalTestbed, condition, opened

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
