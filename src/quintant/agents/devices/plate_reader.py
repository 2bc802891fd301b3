"""A simulated plate reader: eight rows of twelve absorbances between 0 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from quintant.agents.devices import http_device
from quintant.agents.devices.http_device import Pages, text
from quintant.http.request import Request
from quintant.http.response import Response

ROWS, COLUMNS = 8, 12


def pages(random: Random) -> Pages:
    """What it answers."""

    def measurement(_: Request) -> Response:
        rows = (
            "".join(f"{random.uniform(0, 3):.2f} " for _ in range(COLUMNS)) for _ in range(ROWS)
        )
        return text("".join(f"{row}\n" for row in rows))

    return {"get_measurement": measurement}


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    http_device.main("plate-reader", pages(Random()), arguments)
