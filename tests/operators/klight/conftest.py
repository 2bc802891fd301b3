"""Modelled peers for every test, under virtual time."""

from __future__ import annotations

import pytest

from quintant.testing import InProcessCluster
from testbeds.klight import KlightTestbed


@pytest.fixture
def testbed(cluster: InProcessCluster) -> KlightTestbed:
    """A cluster without pods, and the operator not yet started."""
    return KlightTestbed(cluster)
