"""NewWarningHeader: the header Warning of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOST_WARNED = 4096
"""Characters of all warnings together before each is cut: headers have their limits."""
CUT_AT = 256
"""Characters of a warning that is cut."""
_NONE: Mapping[str, str] = {}


def warning_headers(texts: Iterable[str], headers: Mapping[str, str] = _NONE) -> dict[str, str]:
    """Headers that also tell a client, first of all, what it should know, each thing once."""
    messages = [f'299 - "{_escaped(text)}"' for text in _cut(list(dict.fromkeys(texts)))]
    if not messages:
        return dict(headers)
    after = headers.get("warning")
    return {**headers, "warning": ", ".join([*messages, after] if after else messages)}


def _cut(texts: list[str]) -> list[str]:
    """The texts, or, if they are too much together, the beginnings of the first of them."""
    if sum(map(len, texts)) <= MOST_WARNED:
        return texts
    return [text[:CUT_AT] for text in texts[: MOST_WARNED // CUT_AT]]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
