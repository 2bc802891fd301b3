"""Promises of quintant.runtime.watch.timeouts."""

from __future__ import annotations

import pytest

from quintant.runtime.watch.timeouts import Timers


@pytest.mark.parametrize(
    ("gap", "limit"),
    [
        pytest.param(None, 405, id="before a first bookmark the server's own time limit counts"),
        pytest.param(0.0, 90, id="one bookmark is enough to expect more"),
        pytest.param(60.0, 90, id="the usual minute leaves half a minute"),
        pytest.param(100.0, 120, id="a server that is slower is given longer"),
    ],
)
def test_silence_is_measured_by_the_bookmarks_seen(gap: float | None, limit: float) -> None:
    assert Timers().idle(400, gap) == limit


def test_silence_can_be_shortened_but_not_below_the_servers_rhythm() -> None:
    hasty = Timers(silence=2)
    assert hasty.idle(400, 0.0) == 2
    assert hasty.idle(400, 60.0) == 72
