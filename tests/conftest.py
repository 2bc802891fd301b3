"""What all tests share: the fixtures and virtual time of the kit for users, and budgets shown."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

import patience
from quintant.cluster.apiserver.golang.depth import make_room

pytest_plugins = ["quintant.testing.plugin"]

# Tests load gRPC and start programs in one process, which programs of ours never do. Its handlers
# for forks let a child of uvloop hang now and then, before it became the program.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

# As every server does. Hypothesis wants to see it before it begins, whichever test comes first.
make_room()

# The same examples on every machine, however busy it is: a red run can be repeated.
_STEADY = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", _STEADY)
# Others every time, and as many as asked for, unless a test has its own number: `make properties`.
_WANTED = int(os.environ.get("QUINTANT_EXAMPLES", "0"))
settings.register_profile(
    "varied", _STEADY, derandomize=False, max_examples=_WANTED or 1, print_blob=True
)
settings.load_profile("varied" if _WANTED else "steady")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show how long each test took that recorded a budget: `record_property("budget_ms", 50)`."""
    for report in terminalreporter.getreports("passed"):
        budget = dict(report.user_properties).get("budget_ms")
        if budget is not None and report.when == "call":
            name = report.nodeid.rpartition("::")[2]
            took = report.duration * 1000
            terminalreporter.write_line(f"{took:.0f} ms of {budget} ms: {name}")


ROOMS = {"node", "real", "interop", "dataplane", "security", "scenarios"}
"""Folders with tests that wait for processes, by the speed of the machine."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    if ROOMS & set(item.path.parts):
        patience.refresh()
