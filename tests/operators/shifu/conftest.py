"""The scenarios of shifu: the operator under its roles, on simulated nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from testbeds.shifu import ShifuTestbed, opened


@pytest_asyncio.fixture
async def testbed() -> AsyncIterator[ShifuTestbed]:
    """A testbed of the test's own; the operator was denied nothing in it."""
    async with opened() as found:
        yield found
        assert found.account is not None
        assert not found.account.denied()
