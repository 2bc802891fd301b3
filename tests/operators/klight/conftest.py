"""A town of modelled peers for every test, under virtual time."""

from __future__ import annotations

import pytest

from quintant.testing import InProcessCluster
from testbeds.klight import Town


@pytest.fixture
def town(cluster: InProcessCluster) -> Town:
    """A cluster without pods, and the operator not yet started."""
    return Town(cluster)
