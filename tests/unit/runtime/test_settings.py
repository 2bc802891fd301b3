"""What a user says in the environment about an operator's manager reaches it; the rest stays."""

from __future__ import annotations

from quintant.core.options import from_environment
from quintant.runtime.manager.manager import Manager
from quintant.runtime.settings import ManagerOptions


class Options(ManagerOptions, frozen=True):
    image: str = "plain"


def test_options_of_the_manager_come_with_those_of_the_operator() -> None:
    given = {"IMAGE": "fine", "RESYNC_PERIOD": "1h", "METRICS_ADDR": ":1", "ENABLE_WEBHOOKS": "f"}
    options = from_environment(Options, given)
    wanted = Options("fine", resync_period=3600.0, metrics_addr=":1", enable_webhooks=False)
    assert options == wanted


def test_what_is_not_given_leaves_the_managers_own() -> None:
    manager = Manager("any")
    before = manager.settings
    manager.configure(**Options().settings)
    assert manager.settings == before
    manager.configure(**Options(resync_period=60.0, health_probe_addr=":2").settings)
    assert (manager.settings.resync, manager.settings.probes) == (60.0, ":2")
    assert manager.settings.metrics == before.metrics
