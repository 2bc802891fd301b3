from __future__ import annotations

from itertools import accumulate, repeat

from quintant.cli.processes.restarts import LONGEST_SECONDS, STEADY_SECONDS, restart_delay


def test_waits_double_from_one_second_to_thirty() -> None:
    waits = list(accumulate(repeat(0.5, 7), restart_delay, initial=0.0))[1:]
    assert waits == [1, 2, 4, 8, 16, 30, 30]


def test_who_lived_for_a_minute_is_started_again_after_a_second() -> None:
    assert restart_delay(LONGEST_SECONDS, STEADY_SECONDS) == 1
    assert restart_delay(LONGEST_SECONDS, STEADY_SECONDS - 1) == LONGEST_SECONDS
