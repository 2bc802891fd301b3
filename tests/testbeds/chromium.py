"""Debian's Chromium, driven by Playwright, and a page in it that is watched for errors."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

import patience
from foreign.chromium import find_chromium
from foreign.errors import ProgramError

REQUIRED = "QUINTANT_REQUIRED"
"""Set where whatever is absent is a failure: in `.ci/run`."""
WAIT_SECONDS = 20.0
"""For what a page does at once, on a quiet machine."""
EXPECTED_NOISE = ("net::ERR_", "Failed to load resource")
"""What a browser itself says where a server is away, in the tests that take it away."""


def require_chromium(environ: Mapping[str, str]) -> str:
    """The program; where there is none, tests are skipped, or fail where it is required."""
    try:
        return find_chromium(environ)
    except ProgramError as error:
        if environ.get(REQUIRED):
            pytest.fail(str(error))
        pytest.skip(str(error))


@asynccontextmanager
async def chromium() -> AsyncIterator[Any]:
    """A browser without a screen. As root it has no sandbox, which is only fit for our own page."""
    from playwright.async_api import async_playwright, expect

    expect.set_options(timeout=1000 * patience.seconds(WAIT_SECONDS))
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    program = require_chromium(os.environ)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=sandbox)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Viewer:
    """Somebody who looks at a console."""

    page: Any
    url: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note what goes wrong, and what is requested."""
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.set_default_timeout(1000 * patience.seconds(WAIT_SECONDS))

    def _note(self, message: Any) -> None:
        if message.type == "error" and not message.text.startswith(EXPECTED_NOISE):
            self.errors.append(message.text)

    async def open(self, path: str) -> None:
        """Go to a view and wait until it is live."""
        await self.page.goto(self.url + path)
        await self.live()

    async def live(self) -> None:
        """Wait until the page says that it is live."""
        await self.page.wait_for_selector("#live:is([data-live=live], [data-live=partly])")

    def foreign_requests(self) -> list[str]:
        """Requests to any other host."""
        return [
            each for each in self.requests if urlsplit(each).netloc != urlsplit(self.url).netloc
        ]


@asynccontextmanager
async def viewer(browser: Any, url: str, **context: Any) -> AsyncIterator[Viewer]:
    """A viewer of their own, who must have seen no error and asked no other host at the end."""
    opened = await browser.new_context(viewport={"width": 1280, "height": 900}, **context)
    try:
        looking = Viewer(await opened.new_page(), url)
        looking.watch()
        yield looking
        assert looking.errors == []
        assert looking.foreign_requests() == []
    finally:
        await opened.close()
