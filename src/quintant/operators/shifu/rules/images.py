"""Which images a device may name: what the operator was given, and nothing else. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

NOT_ALLOWED = "ImageNotAllowed"
_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*(?:(?<=[/:@])\*)?", re.ASCII)


def image_patterns(text: str) -> tuple[str, ...]:
    """Images by commas, whole or up to a `/`, `:` or `@` and a `*`; ValueError for others."""
    found = tuple(each.strip() for each in text.split(",") if each.strip())
    if not all(_PATTERN.fullmatch(each) for each in found):
        raise ValueError
    return found


def is_allowed(image: str, patterns: Iterable[str]) -> bool:
    """Whether an image is one of these, or begins as one with a `*` does."""
    return any(
        image.startswith(each[:-1]) if each.endswith("*") else image == each for each in patterns
    )


def not_allowed(image: str) -> str:
    """What is wrong, and what to do."""
    return (
        f"the operator was not given the image {image[:200]!r}; if it should run here, "
        "add it to ALLOWED_IMAGES of the operator"
    )
