"""What the page loads, and whether everybody can use it: rules of accessibility, themes, 360 px."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from testbeds.axe import violations
from testbeds.chromium import Viewer, viewer
from testbeds.console_rows import ago, device_link
from testbeds.console_server import ConsoleServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
PICTURES = Path(__file__).parents[2] / "build" / "console"
MOST_BYTES, MOST_REQUESTS = 500_000, 25
VIEWS = {
    "overview": "/",
    "panel": "/systems/cosmos",
    "edgemap": "/edgemap?device=factory/light-9",
    "map": "/edgemap?view=map",
    "object": device_link("light-1"),
    "changes": "/changes",
    "events": "/events",
    "nodes": "/nodes",
}
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CURRENT_IN_SIGHT = """(() => {
  const { left, right } = document.querySelector("#nav [aria-current]").getBoundingClientRect();
  return left >= 0 && right <= innerWidth;
})()"""
SIZES = """["resource", "navigation"].flatMap((kind) => performance.getEntriesByType(kind))
  .reduce((sum, each) => sum + each.encodedBodySize, 0)"""


async def settled(looking: Viewer, path: str) -> None:
    """Wait until a view has its rows."""
    await looking.open(path)
    rows = ".system, .row:not(.row-head), .box, .dot, .condition, .change, .event"
    await looking.page.locator(rows).first.wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_every_view_is_accessible_in_both_themes(
    browser: Any, server: ConsoleServer, theme: str
) -> None:
    server.sources["pods"] = {"live": False, "since": ago(9), "reason": "429 Too Many Requests"}
    async with viewer(browser, server.url, color_scheme=theme) as looking:
        for name, path in VIEWS.items():
            await settled(looking, path)
            assert await violations(looking) == [], name


async def test_every_view_fits_360_pixels_and_is_accessible_there(
    browser: Any, server: ConsoleServer
) -> None:
    async with viewer(browser, server.url) as looking:
        await looking.page.set_viewport_size({"width": 360, "height": 740})
        for name, path in VIEWS.items():
            await settled(looking, path)
            assert await looking.page.evaluate(OVERFLOW) <= 0, name
            assert await violations(looking) == [], name
            await looking.page.locator("#nav a[href='/systems/shifu']").wait_for(state="attached")
            assert name == "object" or await looking.page.evaluate(CURRENT_IN_SIGHT), name


async def test_the_theme_is_the_systems_unless_another_is_chosen(
    browser: Any, server: ConsoleServer
) -> None:
    async with viewer(browser, server.url, color_scheme="dark") as looking:
        await looking.open("/")
        paper = "getComputedStyle(document.body).backgroundColor"
        dark = await looking.page.evaluate(paper)
        await looking.page.get_by_role("button", name="Theme: system").click()
        light = await looking.page.evaluate(paper)
        assert dark != light
        await looking.page.reload()
        assert await looking.page.evaluate(paper) == light
        await looking.page.get_by_role("button", name="Theme: light").click()
        assert await looking.page.evaluate(paper) == dark


async def test_all_that_the_page_loads_is_small_and_its_own(
    looking: Viewer, server: ConsoleServer
) -> None:
    await settled(looking, "/")
    assert len(looking.requests) < MOST_REQUESTS
    assert len(server.requests) < MOST_REQUESTS
    assert await looking.page.evaluate(SIZES) < MOST_BYTES


async def test_the_title_and_the_heading_follow_the_view_and_are_told_to_screen_readers(
    looking: Viewer,
) -> None:
    await looking.open("/")
    await looking.page.get_by_role("link", name="Nodes", exact=True).click()
    await looking.page.get_by_role("heading", name="Nodes", level=1).wait_for()
    assert await looking.page.title() == "Nodes · Quintant"
    assert await looking.page.evaluate("document.activeElement.textContent") == "Nodes"
    current = looking.page.get_by_role("navigation").locator("[aria-current=page]")
    assert await current.inner_text() == "Nodes"


async def test_what_is_live_is_told_once_and_not_every_second(looking: Viewer) -> None:
    """The seconds that count up are no part of what a screen reader reads aloud."""
    await looking.open("/")
    regions = "[role=status], [role=log], [role=alert], [aria-live]"
    chatter = f"[...document.querySelectorAll('{regions}')].some((e) => e.querySelector('time'))"
    assert not await looking.page.evaluate(chatter)
    seconds = looking.page.locator("#live-seconds")
    assert await seconds.get_attribute("aria-hidden") == "true"


@pytest.mark.parametrize(
    ("name", "theme", "width", "path"),
    [
        ("console-light", "light", 1280, "/"),
        ("console-dark", "dark", 1280, "/edgemap?device=factory/light-9"),
        ("console-narrow", "light", 360, "/edgemap"),
        ("console-object", "light", 1280, device_link("light-1")),
    ],
)
async def test_pictures_for_the_documents(
    browser: Any, server: ConsoleServer, name: str, theme: str, width: int, path: str
) -> None:
    async with viewer(browser, server.url, color_scheme=theme) as looking:
        await looking.page.set_viewport_size({"width": width, "height": 860})
        await settled(looking, path)
        await looking.page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")
    assert (PICTURES / f"{name}.png").stat().st_size > 0
