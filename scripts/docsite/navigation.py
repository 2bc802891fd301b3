"""The order of the pages: the sections of `docs/index.md`, and the links of their tables.

Who adds a page adds it there, for readers of the repository and of the website alike.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(r"^## (.+)$")
_ROW = re.compile(r"^\|.*\[[^\]]+\]\((?P<page>[\w-]+\.md)(?:#[\w-]+)?\) \|$")


class Section(NamedTuple):
    """A heading of the front page, and the pages below it."""

    title: str
    pages: tuple[str, ...]


def sections(index: str) -> tuple[Section, ...]:
    """Return the sections that have pages; a page belongs to the first that names it."""
    seen: set[str] = set()
    found: dict[str, list[str]] = {}
    for title, page in _rows(index):
        if page not in seen:
            seen.add(page)
            found.setdefault(title, []).append(page)
    return tuple(Section(title, tuple(pages)) for title, pages in found.items())


def _rows(index: str) -> Iterator[tuple[str, str]]:
    title = ""
    for line in index.splitlines():
        if heading := _HEADING.match(line):
            title = heading[1]
        elif row := _ROW.match(line):
            yield title, row["page"]
