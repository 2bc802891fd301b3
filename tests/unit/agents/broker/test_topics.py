"""Which filters a topic fits."""

from __future__ import annotations

import pytest

from quintant.agents.broker.topics import fits, valid_filter


@pytest.mark.parametrize(
    ("topic", "wanted", "does"),
    [
        ("a/b", "a/b", True),
        ("a/b", "a/+", True),
        ("a/b", "+/+", True),
        ("a/b", "a", False),
        ("a", "a/+", False),
        ("a", "a/#", True),
        ("a/b/c", "a/#", True),
        ("a/b", "#", True),
        ("/a", "+/a", True),
        ("$SYS/x", "#", False),
        ("$SYS/x", "$SYS/#", True),
    ],
)
def test_topics_and_filters(topic: str, wanted: str, does: bool) -> None:
    assert fits(topic, wanted) is does


@pytest.mark.parametrize("text", ["", "a/#/b", "a#", "a+/b", "\0"])
def test_filters_that_are_none(text: str) -> None:
    assert not valid_filter(text)
    assert valid_filter("a/+/#")
