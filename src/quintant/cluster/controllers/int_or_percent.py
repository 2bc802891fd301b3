"""GetScaledValueFromIntOrPercent: a number of pods, or a percentage of those wanted."""

from __future__ import annotations

from quintant.api.quantity import IntOrString


def scaled_value(value: IntOrString | None, total: int, *, up: bool) -> int:
    """How many of `total` a number or a percentage means, rounded up or down; None is none."""
    if not isinstance(value, str):
        return value or 0
    percent = int(value.removesuffix("%"))
    return -(-percent * total // 100) if up else percent * total // 100
