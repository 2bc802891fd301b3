"""A moment of a status that cannot be read is none, and fails nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quintant.operators.infra.observed.moments import seconds_since

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_moment_is_so_long_ago() -> None:
    assert seconds_since(NOW, "2025-12-31T23:59:00Z") == 60.0
    assert seconds_since(NOW, "2026-01-01T01:00:00+00:00") == -3600.0
    never = seconds_since(NOW, "9999-12-31T23:59:59Z")
    assert never is not None
    assert never < -1e9


@pytest.mark.parametrize("moment", [None, "", "x", "2026-99-99T99:99:99Z", "2026-01-01", "\x00"])
def test_what_is_no_moment_is_none(moment: str | None) -> None:
    assert seconds_since(NOW, moment) is None
