"""Tables without JavaScript: what the page shows, rendered here, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from html import escape
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from quintant.console.links import safe_url
from quintant.console.server.docs_page import render_markdown
from quintant.console.sources import READING, SourceState
from quintant.core.clock import timestamp
from quintant.http.response import Response

MOST_ROWS = 2000
"""Rows of one table; a page with more would help nobody."""
HTML = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
NAVIGATION = {
    "overview": ("Overview", "/plain"), "edgemap": ("edgeMap", "/plain/edgemap"),
    "nodes": ("Nodes", "/plain/nodes"), "events": ("Events", "/plain/events"),
    "changes/-": ("Changes", "/plain/changes"),
}  # fmt: skip
"""Titles and addresses, by topic."""
GROUPS = {
    "object": "What it is", "system": "Systems", "operator": "Operators", "node": "Nodes",
    "device": "Devices",
    "condition": "Conditions", "child": "Children", "event": "Events",
    "change": "History",
}  # fmt: skip
"""Captions of tables, in the order in which they stand."""
NOTHING: tuple[object, ...] = (None, "", [], {})
SIGN_IN = "Sign in"
URGENCY = {"broken": 0, "working": 1, "unknown": 2, "well": 3}


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


def page_of(snapshot: bytes, now: datetime, sources: Mapping[str, SourceState]) -> bytes:
    """A topic as a page; what of it may be old stands first."""
    found = msgspec.json.decode(snapshot)
    topic, rows, meta = found["topic"], found["rows"], found["meta"]
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for key, row in rows.items():
        group = row.get("type") if topic in ("overview", "edgemap") else None
        if topic.startswith("object/"):
            group = key.partition("/")[0]
        groups.setdefault(str(group or ""), []).append(row)
    order = [name for name in (*GROUPS, *groups) if name in groups and name != "plot"]
    shown = "".join(_group(name, groups[name]) for name in dict.fromkeys(order))
    about = _about({key: value for key, value in meta.items() if value not in ("", [], None)})
    nothing = "" if rows else "<p class=empty>There is nothing here yet.</p>"
    return _document(topic, _freshness(now, sources) + shown + nothing + about)


def _freshness(now: datetime, sources: Mapping[str, SourceState]) -> str:
    """When this was, and what was not live then."""
    stale = (
        f"<p class=notice>{_text(name)}: not live since {_text(each.since)}: "
        f"{_text(each.reason)}</p>"
        for name, each in sources.items()
        if not each.live and each.reason != READING
    )
    word = f"<p class=lead>As of {timestamp(now)}; load it again for what is new.</p>"
    return word + "".join(stale)


def login_page(*, refused: bool = False, status: int = 0) -> Response:
    """Where a token is shown."""
    word = "<p role=alert>The token is not good, or no longer.</p>" if refused else ""
    form = (
        "<form action=/login method=get><label>Token <input name=token type=password "
        "autocomplete=off required></label> <button class=quiet>Sign in</button></form>"
    )
    return Response(status or (401 if refused else 200), HTML, _document(SIGN_IN, word + form))


def docs_page(title: str, readme: str) -> Response:
    """What an operator says of itself."""
    return Response(200, HTML, _document(title, render_markdown(readme), heading=False))


def _document(topic: str, body: str, *, heading: bool = True) -> bytes:
    title = _title(topic)
    links = "".join(
        f'<li><a href="{address}"{" aria-current=page" if each == topic else ""}>{name}</a></li>'
        for each, (name, address) in NAVIGATION.items()
        if topic != SIGN_IN
    )
    first = f"<h1>{_text(title)}</h1>" if heading else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{_text(title)} · Quintant</title>"
        '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="/static/style.css"></head><body>'
        '<header class="bar"><a class="brand" href="/"><img src="/static/icon.svg" alt="" '
        'width="26" height="26"><span class="brand-name">Quintant</span></a></header>'
        f'<nav class="side" aria-label="Views"><ul>{links}</ul></nav>'
        f'<main class="plain">{first}{body}</main></body></html>'
    ).encode("utf-8", "replace")


def _title(topic: str) -> str:
    """What a topic is called."""
    if topic in NAVIGATION:
        return NAVIGATION[topic][0]
    kind, _, rest = topic.partition("/")
    if kind == "changes":
        return f"Changes in {unquote(rest)}"
    return unquote(topic.rpartition("/")[2])


def _group(name: str, rows: list[Mapping[str, Any]]) -> str:
    """Rows of one sort; an object, of which there is one, as a list of what it has."""
    if name != "object":
        return _table(name, rows)
    filled = {key: value for key, value in rows[0].items() if value not in NOTHING}
    yaml = filled.pop("yaml", "")
    return f'<div class="card">{_about(filled)}</div><pre tabindex=0>{_text(yaml)}</pre>'


def _table(name: str, rows: list[Mapping[str, Any]]) -> str:
    filled = (key for row in rows for key, value in row.items() if value not in NOTHING)
    columns = [key for key in dict.fromkeys(filled) if key != "type" or not name]
    head = "".join(f'<th scope="col">{_heading(each)}</th>' for each in columns)
    urgent = sorted(rows, key=lambda row: URGENCY.get(str(row.get("state")), len(URGENCY)))
    lines = "".join(_line(row, columns) for row in urgent[:MOST_ROWS])
    left = len(rows) - MOST_ROWS
    more = f"<p>{left} more are not shown.</p>" if left > 0 else ""
    caption = f"<caption>{_text(GROUPS.get(name, name))}</caption>" if name else ""
    return (
        f'<div class="card scroll-x" tabindex="0" role="region" aria-label="{_text(name)} table">'
        f'<table class="small-table">{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table>{more}</div>"
    )


def _line(row: Mapping[str, Any], columns: Iterable[str]) -> str:
    cells = "".join(f"<td>{_cell(each, row.get(each))}</td>" for each in columns)
    if row.get("type") == "system" and "name" in row:
        address = f"/plain/systems/{quote(str(row['name']), safe='')}"
        name = f"<td>{_text(row['name'])}</td>"
        cells = cells.replace(name, f'<td><a href="{address}">{_text(row["name"])}</a></td>', 1)
    return f"<tr>{cells}</tr>"


def _cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    if column == "link" and isinstance(value, str) and value.startswith("/"):
        return f'<a href="/plain{_text(value)}">open</a>'
    if column == "url" and isinstance(value, str) and safe_url(value):
        return f'<a href="{_text(value)}" rel="noreferrer">{_text(value)}</a>'
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        items = ((key, item) for key, item in value.items() if column != "counts" or item)
        return ", ".join(f"{_text(key)}: {_cell(key, item)}" for key, item in items)
    if isinstance(value, list):
        return "; ".join(_cell("", item) for item in value)
    return _text(value)


def _about(meta: Mapping[str, Any]) -> str:
    lines = "".join(f"<dt>{_heading(key)}</dt><dd>{_cell(key, meta[key])}</dd>" for key in meta)
    return f"<dl>{lines}</dl>" if lines else ""


def _heading(name: str) -> str:
    """What a field is called."""
    return _text(name.replace("_", " "))


def _text(value: object) -> str:
    """A text that is nothing but text: no markup, no marks that turn its direction."""
    return escape("".join(_visible(each) for each in str(value)))


def _visible(character: str) -> str:
    return character if character.isprintable() or character == "\n" else "\ufffd"
