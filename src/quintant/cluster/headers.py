"""Headers of answers that are made from something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_NONE: Mapping[str, str] = {}


def warned(texts: Iterable[str], headers: Mapping[str, str] = _NONE) -> dict[str, str]:
    """Headers that also tell a client what it should know, each thing once."""
    told = [f'299 - "{_escaped(text)}"' for text in dict.fromkeys(texts)]
    if not told:
        return dict(headers)
    before = headers.get("warning")
    return {**headers, "warning": ", ".join([before, *told] if before else told)}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
