"""The size of the long scenarios: a twentieth as a rule, the whole with `make soak`."""

from __future__ import annotations

import os

SHARE = 1 if os.environ.get("QUINTANT_SOAK") else 20


def sized(full: int) -> int:
    """A number of the full scenario, brought down to the size of this run."""
    return full // SHARE


def seeds(usual: int, soak: int) -> int:
    """How many seeds are tried; `make soak QUINTANT_SEEDS=10000` says how many in a soak."""
    return int(os.environ.get("QUINTANT_SEEDS", soak)) if SHARE == 1 else usual
