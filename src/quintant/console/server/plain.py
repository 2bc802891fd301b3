"""Tables without JavaScript: what the page shows, rendered here, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any
from urllib.parse import quote

import msgspec

from quintant.console.links import safe_url
from quintant.http.response import Response

MOST_ROWS = 2000
"""Rows of one table; a page with more would help nobody."""
HTML = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
NAVIGATION = (
    ("Overview", "/plain"), ("edgeMap", "/plain/edgemap"), ("Nodes", "/plain/nodes"),
    ("Events", "/plain/events"), ("Changes", "/plain/changes"),
)  # fmt: skip


def topic_of(parts: list[str]) -> str:
    """The topic that a page is made of."""
    match parts:
        case [""]:
            return "overview"
        case ["systems", name]:
            return f"panel/{quote(name, safe='')}"
        case ["changes"]:
            return "changes/-"
    quoted = [quote(each, safe="") for each in parts]
    return "/".join(["object", *quoted[1:]] if parts[0] == "objects" else quoted)


def page_of(snapshot: bytes) -> bytes:
    """A topic as a page."""
    found = msgspec.json.decode(snapshot)
    topic, rows, meta = found["topic"], found["rows"], found["meta"]
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for key, row in rows.items():
        group = row.get("type") if topic in ("overview", "edgemap") else None
        if topic.startswith("object/"):
            group = key.partition("/")[0]
        groups.setdefault(str(group or ""), []).append(row)
    shown = (_table(name, each) for name, each in groups.items() if name != "plot")
    about = _about({key: value for key, value in meta.items() if value not in ("", [], None)})
    return _document(topic, "".join(shown) + about)


def login_page(*, refused: bool = False, status: int = 0) -> Response:
    """Where a token is shown."""
    word = "<p role=alert>The token is not good, or no longer.</p>" if refused else ""
    form = (
        "<form action=/login method=get><label>Token <input name=token type=password "
        "autocomplete=off required></label> <button>Sign in</button></form>"
    )
    return Response(status or (401 if refused else 200), HTML, _document("sign in", word + form))


def _document(title: str, body: str) -> bytes:
    links = " · ".join(f'<a href="{address}">{name}</a>' for name, address in NAVIGATION)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{_text(title)} · Quintant</title>"
        '<link rel="stylesheet" href="/static/style.css"></head>'
        f"<body><nav>{links}</nav><main><h1>{_text(title)}</h1>{body}</main></body></html>"
    ).encode("utf-8", "replace")


def _table(name: str, rows: list[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(key for row in rows for key in row if key != "type" or not name))
    head = "".join(f'<th scope="col">{_text(each)}</th>' for each in columns)
    lines = "".join(_line(row, columns) for row in rows[:MOST_ROWS])
    left = len(rows) - MOST_ROWS
    more = f"<p>{left} more are not shown.</p>" if left > 0 else ""
    caption = f"<caption>{_text(name)}</caption>" if name else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>{more}"


def _line(row: Mapping[str, Any], columns: Iterable[str]) -> str:
    cells = "".join(f"<td>{_cell(each, row.get(each))}</td>" for each in columns)
    return f"<tr>{cells}</tr>"


def _cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    if column == "yaml":
        return f"<pre>{_text(value)}</pre>"
    if column == "link" and isinstance(value, str) and value.startswith("/"):
        return f'<a href="/plain{_text(value)}">open</a>'
    if column == "url" and isinstance(value, str) and safe_url(value):
        return f'<a href="{_text(value)}" rel="noreferrer">{_text(value)}</a>'
    if isinstance(value, Mapping):
        return ", ".join(f"{_text(key)}: {_cell(key, item)}" for key, item in value.items())
    if isinstance(value, list):
        return "; ".join(_cell("", item) for item in value)
    return _text(value)


def _about(meta: Mapping[str, Any]) -> str:
    lines = "".join(f"<dt>{_text(key)}</dt><dd>{_cell(key, meta[key])}</dd>" for key in meta)
    return f"<dl>{lines}</dl>" if lines else ""


def _text(value: object) -> str:
    """A text that is nothing but text: no markup, no marks that turn its direction."""
    return escape("".join(_visible(each) for each in str(value)))


def _visible(character: str) -> str:
    return character if character.isprintable() or character == "\n" else "\ufffd"
