"""A few pages below words of their own: what the small servers of a process are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import unquote

from quintant.http.request import Question
from quintant.http.response import Answer, Flow, text
from quintant.http.server import Handler

Page = Callable[[Question, str], Awaitable[Answer | Flow]]
"""From a request and the path below a page's word to the answer."""

NOT_FOUND = text("not found", 404)
_READING = ("GET", "HEAD")


def paged(pages: Mapping[str, Page]) -> Handler:
    """Serves pages by the first word of a path, to be read only."""

    async def handle(question: Question) -> Answer | Flow:
        word, _, below = unquote(question.path).strip("/").partition("/")
        if word not in pages:
            return NOT_FOUND
        if question.method not in _READING:
            return text("only GET and HEAD", 405, allow="GET, HEAD")
        return await pages[word](question, below)

    return handle


def single(show: Callable[[], Answer]) -> Page:
    """A page with nothing below it."""

    async def page(_question: Question, below: str) -> Answer:
        return NOT_FOUND if below else show()

    return page
