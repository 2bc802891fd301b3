"""Which filters a topic fits: `+` is one level, `#` all that follow. Pure."""

from __future__ import annotations

LONGEST = 65_535


def valid_filter(text: str) -> bool:
    """Whether a text may be subscribed to."""
    if not text or len(text) > LONGEST or "\0" in text:
        return False
    levels = text.split("/")
    return all(
        ("#" not in level and "+" not in level)
        or level == "+"
        or (level == "#" and at == len(levels) - 1)
        for at, level in enumerate(levels)
    )


def fits(topic: str, wanted: str) -> bool:
    """Whether a message on a topic is for a filter."""
    # Topics of the broker's own are not for those who want everything.
    if topic.startswith("$") != wanted.startswith("$"):
        return False
    levels = topic.split("/")
    for at, level in enumerate(filters := wanted.split("/")):
        if level == "#":
            return True
        if at >= len(levels) or level not in ("+", levels[at]):
            return False
    return len(filters) == len(levels)
