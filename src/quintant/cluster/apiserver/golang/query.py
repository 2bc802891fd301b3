"""url.ParseQuery: the query of a URL as Go reads it: broken pairs are left out, the first counts.

Of a query with too many parameters, Go reads none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

REPEATED = "command"
"""The parameter of which every value counts: the words of a command."""
SEPARATOR = "\0"
"""Between the values of it; none can hold one, as no word of a command can."""
MOST = 10_000
"""Parameters of a query that is read at all."""
_BROKEN = re.compile(r"%(?![0-9A-Fa-f]{2})|;")
"""What no name or value can hold as it is."""


def read_pairs(query: str) -> dict[str, str]:
    """The parameters of a query that is written as it came over the wire."""
    found: dict[str, str] = {}
    for name, value in _pairs(query):
        if name == REPEATED and name in found:
            found[name] = f"{found[name]}{SEPARATOR}{value}"
        found.setdefault(name, value)
    return found


def split_values(value: str) -> list[str]:
    """Every value of the parameter that may be there several times."""
    return value.split(SEPARATOR)


def _pairs(query: str) -> Iterator[tuple[str, str]]:
    if query.count("&") >= MOST:
        return
    for pair in query.split("&"):
        if pair and not _BROKEN.search(pair):
            name, _, value = pair.partition("=")
            yield unquote_plus(name), unquote_plus(value)
