"""A simulated automated guided vehicle: it is somewhere on the floor."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from quintant.agents.devices import http_device
from quintant.agents.devices.http_device import Pages, text


def pages(random: Random) -> Pages:
    """What it answers."""
    return {
        "get_position": lambda _: text(
            f"xpos: {random.randrange(100)}, ypos: {random.randrange(200)}"
        )
    }


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    http_device.main("agv", pages(Random()), arguments)
