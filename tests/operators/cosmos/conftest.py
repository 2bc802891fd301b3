"""The scenarios of the Cosmos operator: under its role, beside a modelled chain."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from testbeds.cosmos import CosmosTestbed, opened


@pytest_asyncio.fixture
async def testbed() -> AsyncIterator[CosmosTestbed]:
    """A testbed of the test's own; the operator was denied nothing that its role lacks."""
    async with opened() as found:
        yield found
        assert found.account is not None
        granted = {(each.resource, each.verb) for each in found.account.permissions}
        asked = {(each.resource, each.verb) for each in found.account.denied()}
        assert asked <= granted  # what admission refuses is another matter
