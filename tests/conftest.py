"""What all tests share: the fixtures and virtual time of the kit for users, and budgets shown."""

from __future__ import annotations

import pytest

pytest_plugins = ["quintant.testing.plugin"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show how long each test took that recorded a budget: `record_property("budget_ms", 50)`."""
    for report in terminalreporter.getreports("passed"):
        budget = dict(report.user_properties).get("budget_ms")
        if budget is not None and report.when == "call":
            name = report.nodeid.rpartition("::")[2]
            took = report.duration * 1000
            terminalreporter.write_line(f"{took:.0f} ms of {budget} ms: {name}")
