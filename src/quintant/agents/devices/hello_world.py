"""A simulated device that says hello, and shows the fields that it was asked with."""

from __future__ import annotations

from collections.abc import Sequence

from quintant.agents.devices import http_device
from quintant.agents.devices.http_device import Pages, text


def pages() -> Pages:
    """What it answers."""
    return {
        "hello": lambda _: text("Hello_world from device via shifu!"),
        "headers": lambda request: text(
            "".join(
                f"{name.decode('ascii')}: {value.decode('latin-1')}\n"
                for name, value in request.head.fields
            )
        ),
    }


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    http_device.main("hello-world", pages(), arguments)
