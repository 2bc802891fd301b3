"""The scenarios of Portal Expose: the operator under its role, in a modelled testbed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from testbeds.portal import PortalTestbed, opened


@pytest_asyncio.fixture
async def testbed() -> AsyncIterator[PortalTestbed]:
    """A testbed of the test's own; the operator was denied nothing in it."""
    async with opened() as found:
        yield found
        assert found.account is not None
        # A namespace that goes takes no events any more, whoever writes them.
        assert not [each for each in found.account.denied() if each.resource != "events"]
