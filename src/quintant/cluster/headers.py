"""Headers of answers that are made from something."""

from __future__ import annotations

from collections.abc import Iterable


def warned(texts: Iterable[str]) -> dict[str, str]:
    """The header that tells a client what it should know; none if there is nothing."""
    told = ", ".join(f'299 - "{_escaped(text)}"' for text in dict.fromkeys(texts))
    return {"warning": told} if told else {}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
