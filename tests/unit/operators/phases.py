"""Every kind of every operator in every phase, for whoever judges objects by their status."""

from __future__ import annotations

from unit.operators.cosmos import phases as cosmos
from unit.operators.infra import phases as infra
from unit.operators.klight import phases as klight
from unit.operators.portal import phases as portal
from unit.operators.shifu import phases as shifu

PHASES = (
    *klight.PHASES, *portal.PHASES, *infra.PHASES, *cosmos.PHASES, *shifu.PHASES,
)  # fmt: skip
