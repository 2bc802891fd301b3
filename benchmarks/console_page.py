"""The console's page in a real Chromium: what it loads, when it is complete, what it costs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

from foreign.chromium import find_chromium

SETTLE_MS = 2_000
"""Between a page that is complete and a figure of it."""
WAIT_MS = 60_000
NOTES = """
window.noted = {complete: 0, tasks: [], delays: [], seen: new Map()};
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) noted.tasks.push(task.duration);
}).observe({type: "longtask", buffered: true});
const look = () => {
  if (window.wanted && !noted.complete && document.body?.textContent.includes(window.wanted))
    document.documentElement.dataset.complete = noted.complete = performance.now();
  if (!noted.complete) setTimeout(look, 20);
};
look();
window.noteDelays = () => new MutationObserver(() => {
  for (const cell of document.querySelectorAll(".canvas .cell")) {
    const stamp = /^t(\\d{13})$/.exec(cell.textContent)?.[1];
    const key = cell.parentElement.dataset.key;
    if (!stamp || noted.seen.get(key) === stamp) continue;
    if (noted.seen.has(key)) noted.delays.push(Date.now() - Number(stamp));
    noted.seen.set(key, stamp);
  }
}).observe(document.body, {subtree: true, childList: true, characterData: true});
"""
"""For a page: when a text was there, which tasks took long, how old changes are when seen."""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
WORKER_HEAP = "performance.memory?.usedJSHeapSize ?? 0"
LOADED = """(() => {
  const all = ["resource", "navigation"].flatMap((kind) => performance.getEntriesByType(kind));
  return [all.length, all.reduce((sum, each) => sum + each.encodedBodySize, 0)];
})()"""


@dataclass(frozen=True, slots=True)
class Opened:
    """How a page opened."""

    requests: int
    size: int
    paint: float
    complete: float
    """Seconds."""


@dataclass(frozen=True, slots=True)
class Followed:
    """How a page kept up with changes."""

    delays: list[float]
    """Seconds from the write until it was seen, of each change that was."""
    longest_task: float
    heap: int
    """Bytes, of the page and its worker."""


class ConsolePage:
    """A page of a browser of its own."""

    def __init__(self, page: Any, url: str) -> None:
        self._page, self._url = page, url

    def open(self, path: str, text: str) -> Opened:
        """Go to a view; it is complete when it shows a text."""
        self._page.add_init_script(f"window.wanted = {text!r};{NOTES}")
        self._page.goto(self._url + path)
        self._page.wait_for_selector("html[data-complete]", state="attached", timeout=WAIT_MS)
        complete = self._page.evaluate("noted.complete") / 1000
        self._page.wait_for_timeout(SETTLE_MS)
        requests, size = self._page.evaluate(LOADED)
        return Opened(requests, size, self._page.evaluate(PAINT) / 1000, complete)

    def follow(self, seconds: float) -> Followed:
        """Look for a while at what changes."""
        self._page.evaluate("noted.tasks = []; noteDelays()")
        self._page.wait_for_timeout(1000 * seconds)
        delays = [each / 1000 for each in self._page.evaluate("noted.delays")]
        longest = max(self._page.evaluate("noted.tasks"), default=0.0) / 1000
        return Followed(delays, longest, self._heap())

    def close(self) -> None:
        """Look no more."""
        self._page.close()

    def _heap(self) -> int:
        session = self._page.context.new_cdp_session(self._page)
        metrics = session.send("Performance.enable") or session.send("Performance.getMetrics")
        used = {each["name"]: each["value"] for each in metrics["metrics"]}["JSHeapUsedSize"]
        return int(used + sum(each.evaluate(WORKER_HEAP) for each in self._page.workers))


@contextmanager
def console_pages() -> Iterator[Any]:
    """A browser: a function that opens a page before a console's address."""
    program = find_chromium(os.environ)
    from playwright.sync_api import sync_playwright

    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=sandbox)
        try:
            yield lambda url: ConsolePage(
                browser.new_page(viewport={"width": 1280, "height": 900}), url
            )
        finally:
            browser.close()


def worst(delays: list[float]) -> float:
    """What 95 of 100 do not exceed."""
    return quantiles(delays, n=20)[-1] if len(delays) > 1 else max(delays, default=0.0)
