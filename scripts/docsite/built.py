"""What was built, read again: nothing is fetched from elsewhere, and every link leads somewhere."""

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_FETCHING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Tags that make a browser fetch something by itself, and the attribute that names it."""
_ELSEWHERE = ("http:", "https:", "//")
_NOT_FOUND = "404.html"
"""A server shows it for any address, so that its links begin at the top of the website."""


class Page(NamedTuple):
    """What one HTML file refers to, and what may be referred to in it."""

    fetched: tuple[str, ...]
    links: tuple[str, ...]
    anchors: frozenset[str]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one tag."""
        given = {name: value for name, value in attrs if value is not None}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if (source := given.get(_FETCHING.get(tag, ""))) is not None:
            self.fetched.append(source)
        if "id" in given:
            self.anchors.add(given["id"])


def read(html: str) -> Page:
    """Return what a page refers to."""
    reader = _Reader()
    reader.feed(html)
    return Page(tuple(reader.fetched), tuple(reader.links), frozenset(reader.anchors))


def complaints(site: Path) -> Iterator[str]:
    """Yield what is wrong with a built website, a line each."""
    for path in sorted(site.rglob("*.html")):
        name, page = path.relative_to(site), _page(path)
        yield from (
            f"{name} fetches {each}" for each in page.fetched if each.startswith(_ELSEWHERE)
        )
        if path.name != _NOT_FOUND:
            broken = (each for each in page.links + page.fetched if not _leads(path, each))
            yield from (f"{name} links to {each}, which is not there" for each in broken)


@cache
def _page(path: Path) -> Page:
    return read(path.read_text())


def _leads(path: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    return not parts.fragment or unquote(parts.fragment) in _page(target).anchors
