"""The scenarios of infra: the operator under its role, with a modelled provider."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from testbeds.infra import PASSWORD, InfraTestbed, opened


@pytest_asyncio.fixture
async def testbed() -> AsyncIterator[InfraTestbed]:
    """A testbed of the test's own; the operator was denied nothing in it, and told no secret."""
    async with opened() as found:
        yield found
        assert found.account is not None
        assert not list(found.account.denied())
        shown = await found.everything_shown()
        assert PASSWORD not in shown
        assert "file(/etc/passwd)" not in shown
