"""The scenarios of Portal Expose: the operator under its role, in a modelled testbed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from quintant.api.core import Namespace
from testbeds.portal import PortalTestbed, opened


@pytest_asyncio.fixture
async def testbed() -> AsyncIterator[PortalTestbed]:
    """A testbed of the test's own; the operator was denied nothing in it."""
    async with opened() as found:
        yield found
        assert found.account is not None
        # A namespace that goes takes nothing any more, whoever writes it.
        places = {each.metadata.name for each in await found.cluster.client.list(Namespace)}
        denied = [each for each in found.account.denied() if each.resource != "events"]
        assert not [each for each in denied if not each.namespace or each.namespace in places]
