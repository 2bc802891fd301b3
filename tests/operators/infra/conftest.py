"""The scenarios of infra: the operator under its role, with a modelled provider."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from quintant.operators.infra.api import Cluster
from quintant.operators.infra.report import describe
from testbeds.infra import PASSWORD, InfraTestbed, opened

SECRETS = (PASSWORD, "file(/etc/passwd)", repr(PASSWORD)[1:-1])
"""The password, and what would be left of it in texts of all sorts."""


@pytest_asyncio.fixture
async def testbed(capsys: pytest.CaptureFixture[str]) -> AsyncIterator[InfraTestbed]:
    """A testbed of the test's own; the operator was denied nothing in it, and told no secret."""
    async with opened() as found:
        yield found
        assert found.account is not None
        assert not list(found.account.denied())
        assert found.engine is not None
        clusters = await found.cluster.client.list(Cluster, live=True)
        shown = {
            "objects and events": await found.everything_shown(),
            "metrics": found.engine.metrics.render().decode(),
            "describe": "".join(map(describe, clusters)),
            "logs": "".join(capsys.readouterr()),
        }
        for place, text in shown.items():
            assert not [each for each in SECRETS if each in text], f"a secret is in {place}"
        # The kubeconfig is in a template's input here, and so in objects; nowhere else.
        for place in ("metrics", "describe", "logs"):
            assert "made-cluster-token" not in shown[place], f"a kubeconfig is in {place}"
