"""The links of a page, and nothing else of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.proxy.html import rewrite_html


def rewritten(page: str) -> str:
    return rewrite_html(
        page.encode(), lambda link: f"/p{link}" if link[:1] == "/" else link
    ).decode()


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('<a href="/x">y</a>', '<a href="/p/x">y</a>'),
        ("<A HREF = '/x' class=b>", '<A HREF = "/p/x" class=b>'),
        ("<img src=/x alt='/y'/>", "<img src=\"/p/x\"  alt='/y'/>".replace("  ", " ")),
        ('<script src="/x">"<a href=\'/y\'>"</script><a href=/z>', None),
        ('<a href="/x?a=1&amp;b=2">', '<a href="/p/x?a=1&amp;b=2">'),
        ("<video poster=/x src=/y>", '<video poster="/p/x" src="/p/y">'),
    ],
)
def test_links_are_rewritten(page: str, expected: str | None) -> None:
    if expected is None:
        expected = '<script src="/p/x">"<a href=\'/y\'>"</script><a href="/p/z">'
    assert rewritten(page) == expected


@pytest.mark.parametrize(
    "page",
    [
        "<p href='/x' data-src=/y>don't</p>",
        "<!-- <a href='/x'> --><!doctype html></a href='/x'>",
        "<style>a{b:url(/x)}</style>",
        "<textarea><a href='/x'></textarea>",
        "1 < 2 and <a",
        "<a href='/x",
        "<!-- <a href='/x'>",
        "<script><a href='/x'>",
        "<a href='x'><a href='//['>",
        f"<a href='&#{'1' * 5000};'>",
        "<",
        "",
    ],
)
def test_everything_else_stays_as_it_is(page: str) -> None:
    def refuse(link: str) -> str:
        if "[" in link:
            raise ValueError
        return link

    assert rewrite_html(page.encode(), refuse) == page.encode()


@given(st.binary())
def test_a_page_without_links_to_rewrite_keeps_every_byte(page: bytes) -> None:
    assert rewrite_html(page, lambda link: link) == page


@given(
    st.lists(
        st.sampled_from(["<a ", "=", '"', "'", " ", ">", "</", "<!--", "-->", "<script", "/x"])
    )
)
def test_pages_of_pieces_of_tags_keep_every_byte(pieces: list[str]) -> None:
    page = "".join(pieces).encode()
    assert rewrite_html(page, lambda link: link) == page
