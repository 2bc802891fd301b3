"""rewriteHTML, atomsToAttrs: the links of a page. Pure.

Only attributes that are links are touched, byte by byte as they stand; comments, scripts and styles
are skipped. A page that is cut within a tag keeps that tag as it is. One pass: what a page holds
makes it no slower than its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape, unescape

LINKS: dict[str, frozenset[str]] = {
    tag: frozenset(names.split())
    for tag, names in {
        "a": "href",
        "applet": "codebase",
        "area": "href",
        "audio": "src",
        "base": "href",
        "blockquote": "cite",
        "body": "background",
        "button": "formaction",
        "command": "icon",
        "del": "cite",
        "embed": "src",
        "form": "action",
        "frame": "longdesc src",
        "head": "profile",
        "html": "manifest",
        "iframe": "longdesc src",
        "img": "longdesc src usemap",
        "input": "src usemap formaction",
        "ins": "cite",
        "link": "href",
        "object": "classid codebase data usemap",
        "q": "cite",
        "script": "src",
        "source": "src",
        "video": "poster src",
    }.items()
}
"""Attributes that are links, by the tag."""
_RAW = ("script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp")
"""Elements that hold no tags."""
_START = re.compile(r"""<([A-Za-z][^\s/>]*+)((?:[^>=]++|=\s*+"[^"]*+"|=\s*+'[^']*+'|=)*+)>""")
_ATTRIBUTE = re.compile(r"""([^\s=/>"']++)(?:(\s*+=\s*+)("[^"]*+"|'[^']*+'|[^\s>"']++))?""")
_QUOTES = "\"'"
_COMMENT, _COMMENT_END = "<!--", "-->"

Rewrite = Callable[[str], str]
"""What makes a link another one; ValueError for one that cannot be read."""


def rewrite_html(page: bytes, rewrite: Rewrite) -> bytes:
    """The page, with its links rewritten. It is read as UTF-8."""
    text = page.decode("utf-8", "surrogateescape")
    return "".join(_pieces(text, rewrite)).encode("utf-8", "surrogateescape")


def _pieces(text: str, rewrite: Rewrite) -> Iterator[str]:
    at = 0
    while (begin := text.find("<", at)) >= 0:
        yield text[at:begin]
        at = begin
        if text.startswith(_COMMENT, at):
            end = text.find(_COMMENT_END, at)
            if end < 0:
                break
            end += len(_COMMENT_END)
            yield text[at:end]
        elif not text[at + 1 : at + 2].isalpha():
            end = at + 1
            yield "<"
        else:
            tag = _START.match(text, at)
            if tag is None:  # it has no end, and so nothing behind it is a tag
                break
            yield _tag(tag, rewrite)
            at = end = tag.end()
            if (name := tag[1].lower()) in _RAW:
                closed = re.compile(f"</{name}", re.IGNORECASE).search(text, end)
                if closed is None:
                    break
                yield text[end : closed.start()]
                end = closed.start()
        at = end
    yield text[at:]


def _tag(tag: re.Match[str], rewrite: Rewrite) -> str:
    links = LINKS.get(tag[1].lower())
    if links is None:
        return tag[0]

    def attribute(match: re.Match[str]) -> str:
        name, equals, value = match.groups()
        if value is None or name.lower() not in links:
            return match[0]
        return f"{name}{equals}{_value(value, rewrite)}"

    return f"<{tag[1]}{_ATTRIBUTE.sub(attribute, tag[2])}>"


def _value(value: str, rewrite: Rewrite) -> str:
    try:
        plain = unescape(value[1:-1] if value[0] in _QUOTES else value)
        link = rewrite(plain)
    except ValueError:  # of `unescape` as well: a character's number with too many digits
        return value
    return value if link == plain else f'"{escape(link)}"'
