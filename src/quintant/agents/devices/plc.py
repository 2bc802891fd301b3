"""A simulated PLC: four memory areas of sixteen bits, of which single ones can be set."""

from __future__ import annotations

from collections.abc import Sequence

from quintant.agents.devices import http_device
from quintant.agents.devices.http_device import Pages, Query, query_of, text
from quintant.http.response import Response

BITS = 16
NO_AREA = text("Nonexistent memory area", 400)
NO_NUMBER = text("address, digit and value are whole numbers inside the area", 400)


class PlcMemory:
    """What the PLC holds."""

    def __init__(self) -> None:
        self._areas = dict.fromkeys("MQTC", f"0b{'0' * BITS}")

    def show(self, query: Query) -> Response:
        """An area."""
        found = self._areas.get(query.get("rootaddress", ""))
        return text(found) if found is not None else NO_AREA

    def set(self, query: Query) -> Response:
        """Set one bit of an area, counted from its end."""
        area = query.get("rootaddress", "")
        if area not in self._areas:
            return NO_AREA
        bits = self._areas[area]
        try:
            at = len(bits) - 1 - int(query["address"]) - int(query["digit"])
            value = int(query["value"])
        except (KeyError, ValueError):
            return NO_NUMBER
        if not len(bits) - BITS <= at < len(bits) or value not in (0, 1):
            return NO_NUMBER
        self._areas[area] = f"{bits[:at]}{value}{bits[at + 1 :]}"
        return text(self._areas[area])


def pages(memory: PlcMemory) -> Pages:
    """What it answers."""
    return {
        "getcontent": lambda request: memory.show(query_of(request)),
        "sendsinglebit": lambda request: memory.set(query_of(request)),
    }


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    http_device.main("plc", pages(PlcMemory()), arguments)
