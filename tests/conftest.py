"""What all tests share: the kit's fixtures, and real time where a real server is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["quintant.testing.plugin"]

TESTS = Path(__file__).parent
REALTIME = {"real", "typing"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in REALTIME:
            item.add_marker("realtime")
