"""Tables: what the server prints of objects (meta.k8s.io/v1 Table), laid out as text. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_GAP = "   "
# What a terminal would obey instead of showing it.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Rows(Struct, frozen=True):
    """A heading, and lines of cells under it."""

    heading: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def rows(table: Mapping[str, Any], *, wide: bool, prefix: str = "", namespaces: bool) -> Rows:
    """The cells of a Table; `prefix` goes before names, and namespaces become a column."""
    columns = table.get("columnDefinitions") or ()
    shown = [at for at, each in enumerate(columns) if wide or not each.get("priority")]
    heading = tuple(columns[at]["name"].upper() for at in shown)
    names = next((at for at, each in enumerate(shown) if columns[each].get("format") == "name"), 0)
    lines = []
    for row in table.get("rows") or ():
        cells = [_cell(row["cells"][at]) for at in shown]
        cells[names] = prefix + cells[names]
        namespace = (row.get("object") or {}).get("metadata", {}).get("namespace", "")
        lines.append((*((namespace,) if namespaces else ()), *cells))
    return Rows((*(("NAMESPACE",) if namespaces else ()), *heading), tuple(lines))


def laid_out(rows: Rows) -> str:
    """Columns as wide as their widest cell, and no spaces at the ends of lines."""
    every: Sequence[Sequence[str]] = (rows.heading, *rows.lines)
    widths = [max(len(line[at]) for line in every) for at in range(len(rows.heading))]
    return "\n".join(
        _GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in every
    )


def shown(text: str) -> str:
    """A text of the cluster on one line of a terminal."""
    return _CONTROL.sub(" ", text)


def _cell(value: Any) -> str:
    return "<none>" if value in (None, "") else shown(str(value))
