"""url.ParseQuery: the query of a URL as Go reads it: broken pairs are left out, the first counts.

Of a query with too many parameters, Go reads none.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

MOST = 10_000
"""Parameters of a query that is read at all."""
_BROKEN = re.compile(r"%(?![0-9A-Fa-f]{2})|;")
"""What no name or value can hold as it is."""


def read_pairs(query: str) -> dict[str, str]:
    """The parameters of a query that is written as it came over the wire."""
    found: dict[str, str] = {}
    if query.count("&") >= MOST:
        return found
    for pair in query.split("&"):
        if pair and not _BROKEN.search(pair):
            name, _, value = pair.partition("=")
            found.setdefault(unquote_plus(name), unquote_plus(value))
    return found
