"""One page that needs nothing else, and in which everything is text."""

from __future__ import annotations

from html.parser import HTMLParser

from quintant.testing.explore.report.findings import Findings
from quintant.testing.explore.report.html import html_report
from unit.testing.explore.report.reports import HOSTILE, NOW, findings

FETCHED = {"src", "href", "srcset", "data", "action", "style", "onload", "onclick"}
VOID = {"meta", "br", "link", "img"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; every tag has to be closed."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self.feed(page.decode())
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def page(*explored: Findings) -> Page:
    return Page(html_report(explored, NOW))


def test_the_run_without_faults_stands_above_the_failure_with_its_fault_and_difference() -> None:
    text = page(findings()).text
    shown = ("The run without faults", "crash-after at create:", "another world")
    assert sorted(shown, key=text.rindex) == list(shown)


def test_the_page_fetches_nothing_and_runs_nothing() -> None:
    made = page(findings(why=HOSTILE, title=HOSTILE))
    assert not {"script", "b", "link", "img", "iframe", "object"} & set(made.tags)
    assert not FETCHED & made.attributes
    assert b"default-src 'none'" in html_report([findings()], NOW)


def test_whatever_a_program_prints_is_text() -> None:
    made = page(findings(why=HOSTILE, title=HOSTILE))
    assert "<script src='//x'>alert(1)</script>" in made.text


def test_what_fails_at_times_and_what_was_not_made_is_there() -> None:
    text = page(findings()).text
    assert "At times" in text
    assert "409@patch:pods:a/b#1: the point never came" in text
