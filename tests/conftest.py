"""Which loop a test runs on: virtual time for what runs in process, real time for the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from quintant.testing.loop import VirtualLoop

TESTS = Path(__file__).parent
VIRTUAL = {"unit", "scenarios", "examples"}


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    tier = item.path.relative_to(TESTS).parts[0]
    if tier in VIRTUAL and item.get_closest_marker("realtime") is None:
        return {"virtual": VirtualLoop}
    return {"real": asyncio.new_event_loop}
