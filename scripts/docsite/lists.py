"""Lists as Markdown's first grammar has them, which the website follows.

What belongs to an item is indented by four, where GitHub takes two or three. An item that comes
after one of several paragraphs has an empty line before it, which GitHub does not ask for.
"""

import re
from collections.abc import Iterator

_WIDTH = 4
_ITEM = re.compile(r"(?:[-*]|\d+\.) +")
_FENCE = ("```", "~~~")


def widened(text: str) -> str:
    """Return a page whose items keep their paragraphs, code and lists on the website too."""
    return "".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    missing, in_code, before = 0, False, "\n"
    paragraphs = False
    for line in text.splitlines(keepends=True):
        indented = line.startswith(" ") and bool(line.strip())
        item = None if in_code else _ITEM.match(line)
        if line.startswith(_FENCE):
            missing, in_code = 0, not in_code
        elif item:
            if paragraphs and before.strip():
                yield "\n"
            missing, paragraphs = max(0, _WIDTH - len(item[0])), False
        elif not in_code and line.strip() and not indented:
            missing, paragraphs = 0, False
        paragraphs = paragraphs or (missing > 0 and indented and not before.strip())
        yield " " * missing + line if indented else line
        before = line
