"""Namespaces by label, explored: what leaves is written to no more, whatever happens meanwhile."""

from __future__ import annotations

from explore.greeter import GreetersOfATeam
from quintant.testing import explore_scenario


def test_a_namespace_that_leaves_and_comes_back_bears_every_disturbance() -> None:
    explore_scenario(GreetersOfATeam).check()
