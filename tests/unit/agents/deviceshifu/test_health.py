"""When a device has failed, and when it is back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.deviceshifu.health import DeviceHealth, DevicePhase, observe, only


def after(*looks: tuple[float, str | None], what: str = "session") -> DeviceHealth:
    health = DeviceHealth()
    for now, error in looks:
        health = observe(health, what, error, now)
    return health


def test_one_success_is_running() -> None:
    assert after((0, None)).phase is DevicePhase.RUNNING


def test_the_third_miss_in_a_row_is_failed() -> None:
    assert after((0, None), (1, "x"), (2, "x")).phase is DevicePhase.RUNNING
    failed = after((0, None), (1, "x"), (2, "x"), (3, "y"))
    assert (failed.phase, failed.error) == (DevicePhase.FAILED, "y")


def test_a_success_between_two_misses_begins_the_count_again() -> None:
    assert after((0, "x"), (1, "x"), (2, None), (3, "x"), (4, "x")).phase is DevicePhase.RUNNING


def test_missing_for_ten_seconds_is_failed_however_seldom_it_is_looked_at() -> None:
    assert after((0, None), (1, "x"), (11, "x")).phase is DevicePhase.FAILED


def test_a_device_that_never_answered_is_failed() -> None:
    assert after((0, "x"), (1, "x")).phase is DevicePhase.PENDING
    assert after((0, "x"), (1, "x"), (2, "x")).phase is DevicePhase.FAILED


def test_one_success_brings_it_back_and_holds_for_five_seconds() -> None:
    lost = [(float(at), "x") for at in range(3)]
    back = after(*lost, (3, None), (4, "x"), (5, "x"), (6, "x"))
    assert back.phase is DevicePhase.RUNNING
    assert observe(back, "session", "x", 8.5).phase is DevicePhase.FAILED


def test_one_telemetry_does_not_hide_another() -> None:
    health = DeviceHealth()
    for now in range(5):
        health = observe(health, "good", None, float(now))
        health = observe(health, "bad", "x", float(now))
    assert health.phase is DevicePhase.FAILED
    health = observe(only(health, {"good"}), "good", None, 6.0)
    assert health.phase is DevicePhase.RUNNING


@given(st.lists(st.sampled_from([None, "x"]), max_size=50))
def test_running_means_fewer_than_three_misses_unless_just_back(looks: list[str | None]) -> None:
    health = DeviceHealth()
    for now, look in enumerate(looks):
        health = observe(health, "s", look, float(now))
        if look is None:
            assert health.phase is DevicePhase.RUNNING
        if looks[: now + 1][-8:] == ["x"] * 8:
            assert health.phase is DevicePhase.FAILED
