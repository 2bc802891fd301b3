"""The operators of a simulation: each with its users, its remotes, and what must hold."""

from __future__ import annotations

from quintant.testing.simulate.systems.cosmos import Cosmos
from quintant.testing.simulate.systems.infra import Infra
from quintant.testing.simulate.systems.klight import Klight
from quintant.testing.simulate.systems.portal import Portal
from quintant.testing.simulate.systems.shifu import Shifu
from quintant.testing.simulate.systems.system import SimulatedSystem

SYSTEMS: dict[str, type[SimulatedSystem]] = {
    "cosmos": Cosmos,
    "infra": Infra,
    "klight": Klight,
    "portal": Portal,
    "shifu": Shifu,
}
"""By the name of the operator."""
