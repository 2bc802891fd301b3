from __future__ import annotations

from structlog.testing import capture_logs

from quintant.core.object import Request
from quintant.runtime.controller.hot_loops import HOT_RECONCILES, HOT_SECONDS, HotLoops

KEY = Request("a", "default")


def counted(times: int, *, every: float, since: float = 0.0) -> HotLoops:
    loops = HotLoops("greeter")
    for number in range(times):
        loops.count(KEY, since + number * every)
    return loops


def test_key_is_hot_from_its_three_hundredth_reconcile_within_a_minute() -> None:
    assert counted(HOT_RECONCILES - 1, every=0.01).hot(10) == {}
    assert counted(HOT_RECONCILES, every=0.01).hot(10) == {KEY: HOT_RECONCILES}


def test_key_that_takes_longer_than_a_minute_for_it_is_not_hot() -> None:
    every = 2 * HOT_SECONDS / HOT_RECONCILES
    assert counted(HOT_RECONCILES, every=every).hot(2 * HOT_SECONDS) == {}


def test_hot_key_is_hot_for_another_minute_and_no_longer() -> None:
    loops = counted(HOT_RECONCILES, every=0.01)
    assert loops.hot(1.5 * HOT_SECONDS) == {KEY: HOT_RECONCILES}
    assert loops.hot(4 * HOT_SECONDS) == {}


def test_hot_key_is_logged_once_a_minute() -> None:
    with capture_logs() as logs:
        counted(10 * HOT_RECONCILES, every=0.01)
    assert [(each["event"], each["object"]) for each in logs] == [
        ("reconciled without rest", "default/a")
    ]
