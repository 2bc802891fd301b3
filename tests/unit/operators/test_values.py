"""Settings are read as people write them, and refused by name."""

from __future__ import annotations

import pytest

from quintant.core.errors import ConfigError
from quintant.operators import values


@pytest.mark.parametrize(
    ("text", "value"), [("500ms", 0.5), ("30s", 30), ("5m", 300), ("10h", 36000), ("1.5", 1.5)]
)
def test_durations_have_units(text: str, value: float) -> None:
    assert values.seconds("A", text) == value


@pytest.mark.parametrize("text", ["", "0", "-1s", "5d", "s", "1 s", "nan"])
def test_no_duration_is_refused_with_its_name(text: str) -> None:
    with pytest.raises(ConfigError, match="RESYNC="):
        values.seconds("RESYNC", text)


@pytest.mark.parametrize("text", ["0", "-1", "x", "", "²"])
def test_no_count_is_refused(text: str) -> None:
    assert values.count("WORKERS", "12") == 12
    with pytest.raises(ConfigError, match="from 1 on"):
        values.count("WORKERS", text)


def test_other_words_are_refused_with_those_that_are_known() -> None:
    assert values.one_of("SOURCE", "a", ("a", "b")) == "a"
    with pytest.raises(ConfigError, match="a or b"):
        values.one_of("SOURCE", "c", ("a", "b"))


@pytest.mark.parametrize(("text", "value"), [("true", True), ("T", True), ("0", False)])
def test_switches_are_those_of_go(text: str, value: bool) -> None:
    assert values.switch("ENABLE", text) is value
    with pytest.raises(ConfigError, match="ENABLE=yes"):
        values.switch("ENABLE", "yes")
