"""A simulated robot arm: it is somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from quintant.agents.devices import http_device
from quintant.agents.devices.http_device import Pages, text
from quintant.http.request import Request
from quintant.http.response import Response


def pages(random: Random) -> Pages:
    """What it answers."""

    def coordinate(_: Request) -> Response:
        x, y, z = (random.randrange(most) for most in (100, 200, 300))
        return text(f"xpos: {x}, ypos: {y}, zpos: {z}")

    return {"get_coordinate": coordinate}


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    http_device.main("robot-arm", pages(Random()), arguments)
