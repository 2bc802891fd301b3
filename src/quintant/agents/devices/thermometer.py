"""A simulated thermometer: whole degrees between 10 and 30."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from quintant.agents.devices import http_device
from quintant.agents.devices.http_device import Pages, text


def pages(random: Random) -> Pages:
    """What it answers."""
    return {"read_value": lambda _: text(str(random.randint(10, 30)))}


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    http_device.main("thermometer", pages(Random()), arguments)
