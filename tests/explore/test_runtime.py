"""Daemons, fresh caches, kinds without a class and exchanged parts bear every disturbance."""

from __future__ import annotations

import pytest

from explore.runtime import CopyLife, ExchangedParts, FreshGreeter, LineLife
from quintant.testing import Scenario, explore_scenario


@pytest.mark.parametrize("scenario", [LineLife, FreshGreeter, CopyLife, ExchangedParts])
def test_what_a_manager_has_beside_controllers_bears_every_disturbance(
    scenario: type[Scenario],
) -> None:
    explore_scenario(scenario).check()
