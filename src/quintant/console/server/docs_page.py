"""What an operator's README says, as a page: where "what its conditions mean" leads to.

It is in the wheel beside the operator, so the page needs no network. Of Markdown that is headings,
tables, lists, paragraphs and code; all else is text, and no text becomes markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from quintant.console.links import safe_url

FENCE = "```"
_HEADING = re.compile(r"(#{1,4}) +(.+)")
_RULE = re.compile(r"\|[-:| ]+\|")
_CELLS = re.compile(r"(?<!\\)\|")
_INLINE = re.compile(r"(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)\s]+\))")


def render_markdown(text: str) -> str:
    """Markdown as the inside of a page."""
    return "".join(_blocks(iter(text.splitlines())))


def _blocks(lines: Iterator[str]) -> Iterator[str]:
    kept: list[str] = []
    for line in lines:
        if line.startswith(FENCE):
            yield from (_block(kept), _code(lines))
            kept = []
        elif not line.strip() or _HEADING.fullmatch(line):
            yield _block(kept)
            kept = []
            yield _heading(line)
        else:
            kept.append(line)
    yield _block(kept)


def _code(lines: Iterator[str]) -> str:
    held = []
    for line in lines:
        if line.startswith(FENCE):
            break
        held.append(line)
    return f"<pre tabindex=0><code>{escape(chr(10).join(held))}</code></pre>"


def _heading(line: str) -> str:
    found = _HEADING.fullmatch(line)
    if found is None:
        return ""
    level, words = len(found[1]), found[2]
    anchor = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return f'<h{level} id="{anchor}">{_inline(words)}</h{level}>'


def _block(lines: list[str]) -> str:
    if not lines:
        return ""
    if all(line.startswith("|") for line in lines):
        return _table(lines)
    if lines[0].startswith("- "):
        items = "\n".join(lines).removeprefix("- ").split("\n- ")
        return f"<ul>{''.join(f'<li>{_inline(each)}</li>' for each in items)}</ul>"
    return f"<p>{_inline(chr(10).join(lines))}</p>"


def _table(lines: list[str]) -> str:
    rows = [_cells(line) for line in lines if not _RULE.fullmatch(line.strip())]
    head = "".join(f'<th scope="col">{_inline(each)}</th>' for each in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{_inline(each)}</td>' for each in row)}</tr>" for row in rows[1:]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll-x" tabindex="0" role="region" aria-label="Table">{table}</div>'


def _cells(line: str) -> list[str]:
    return [each.strip().replace("\\|", "|") for each in _CELLS.split(line.strip().strip("|"))]


def _inline(text: str) -> str:
    return "".join(_piece(each) for each in _INLINE.split(text))


def _piece(text: str) -> str:
    if len(text) > 2 and text[0] == text[-1] == "`":
        return f"<code>{escape(text[1:-1])}</code>"
    if text.startswith("**") and text.endswith("**") and len(text) > 4:
        return f"<strong>{escape(text[2:-2])}</strong>"
    if text.startswith("[") and text.endswith(")") and "](" in text:
        words, _, address = text[1:-1].partition("](")
        if url := safe_url(address):
            return f'<a href="{escape(url)}" rel="noreferrer">{_inline(words)}</a>'
        return _inline(words)  # of the repository, which is not here
    return escape(text)
