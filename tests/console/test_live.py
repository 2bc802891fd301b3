"""The page shows what is, as it changes, and says so where it cannot."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import patience
from testbeds.chromium import Viewer
from testbeds.console_rows import ago, event, full_node
from testbeds.console_server import ConsoleServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
ROWS = "[role=grid] .canvas .row"
MARK = f"for (const row of document.querySelectorAll('{ROWS}')) row.known = true"
UNMARKED = f"[...document.querySelectorAll('{ROWS}')].filter((row) => !row.known).length"
SILENT_MS = 5000
ASLEEP_MS = 40_000
HOUR_MS = 3_600_000
AWAKE_MS = 2000
ARRIVED = """async () => {
  const { topic } = await import("/static/store.js");
  return topic("panel/cosmos").rows.has("full-8");
}"""
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {get: () => hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def row_text(looking: Viewer, text: str) -> object:
    return looking.page.locator(ROWS, has_text=text)


async def visible(looking: Viewer, text: str) -> None:
    await looking.page.get_by_text(text).first.wait_for()


async def test_a_change_is_seen_without_a_reload_and_what_did_not_change_stays_the_same_node(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.open("/systems/cosmos")
    await visible(looking, "kvstore-6")
    await looking.page.evaluate(MARK)
    server.change(
        "panel/cosmos",
        {
            "full-0": full_node(0, sentence="catches up: 17 blocks behind"),
            "full-7": full_node(7, name="kvstore-new"),
        },
    )
    await visible(looking, "catches up: 17 blocks behind")
    await visible(looking, "kvstore-new")
    assert await looking.page.evaluate(UNMARKED) == 1


async def test_a_missed_change_leads_to_a_fresh_snapshot(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.open("/systems/cosmos")
    await visible(looking, "kvstore-6")
    await looking.page.evaluate(MARK)
    server.change("panel/cosmos", {"full-8": full_node(8, name="kvstore-lost")}, lost=True)
    server.change("panel/cosmos", {"full-9": full_node(9, name="kvstore-after")})
    await visible(looking, "kvstore-lost")
    await visible(looking, "kvstore-after")
    assert await looking.page.evaluate(UNMARKED) == 2


async def test_silence_is_visible_within_five_seconds_and_ends_by_itself(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.page.clock.install()
    await looking.open("/")
    server.silent = True
    await looking.page.clock.run_for(SILENT_MS)
    await visible(looking, "Not live since")
    assert await looking.page.locator("#live-word").inner_text() == "Not live"
    server.silent = False
    await looking.live()
    await looking.page.get_by_text("Not live since").first.wait_for(state="detached")


async def test_a_console_that_went_away_is_back_with_what_happened_meanwhile(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.open("/systems/cosmos")
    await visible(looking, "kvstore-6")
    await looking.page.evaluate(MARK)
    await server.stop()
    await visible(looking, "Not live since")
    await visible(looking, "the console does not answer")
    server.topics["panel/cosmos"].rows["full-8"] = full_node(8, name="kvstore-meanwhile")
    await server.start()
    await looking.live()
    await visible(looking, "kvstore-meanwhile")
    assert await looking.page.evaluate(UNMARKED) == 1


async def test_a_source_that_is_not_live_is_named_with_the_reason_and_the_rest_is_live(
    looking: Viewer, server: ConsoleServer
) -> None:
    source = "edgedevices.shifu.edgenesis.io"
    server.sources["nodes"] = {"live": True, "since": ago(900), "reason": ""}
    server.sources[source] = {"live": False, "since": ago(14), "reason": "403 Forbidden"}
    await looking.open("/")
    await visible(looking, f"{source}: not live since")
    await visible(looking, "403 Forbidden")
    assert await looking.page.locator("#live-word").inner_text() == "Partly live"
    server.change("events", dict([event(99, "the rest is alive")]))
    server.sources[source] = {"live": True, "since": ago(0), "reason": ""}
    await looking.page.get_by_text(f"{source}: not live").wait_for(state="detached")


async def test_many_sources_that_are_not_live_are_few_lines_and_one_that_begins_is_none(
    looking: Viewer, server: ConsoleServer
) -> None:
    server.sources["later"] = {"live": False, "since": ago(-600), "reason": "being read"}
    server.sources["nodes"] = {"live": True, "since": ago(900), "reason": ""}
    for at in range(9):
        server.sources[f"kind-{at}"] = {"live": False, "since": ago(20), "reason": "429"}
    for at in range(4):
        server.sources[f"odd-{at}"] = {"live": False, "since": ago(20), "reason": f"why {at}"}
    await looking.open("/")
    await visible(looking, "kind-0, kind-1, kind-2 and 6 other kinds: not live since")
    await visible(looking, "Not live either: odd-2, odd-3")
    assert await looking.page.locator(".notice").count() == 4
    assert await looking.page.get_by_text("later: not live").count() == 0


async def test_an_api_server_that_is_silent_is_one_line_and_nothing_claims_to_be_live(
    looking: Viewer, server: ConsoleServer
) -> None:
    reason = "the API server is silent: no answer within 3 s"
    for at in range(20):
        server.sources[f"kind-{at}"] = {"live": False, "since": ago(20), "reason": reason}
    await looking.open("/")
    await visible(looking, "Nothing is live since")
    assert await looking.page.locator(".notice").count() == 1
    assert await looking.page.get_by_text("The rest is live").count() == 0
    assert await looking.page.locator("#live-word").inner_text() == "Not live"


async def test_what_a_viewer_may_not_see_says_so_and_the_rest_stays_live(
    looking: Viewer, server: ConsoleServer
) -> None:
    server.refused["panel/cosmos"] = (403, "you may not list CosmosFullNodes")
    await looking.open("/systems/cosmos")
    await visible(looking, "you may not list CosmosFullNodes")
    await visible(looking, "1 broken")


async def test_a_tab_that_slept_gives_its_connection_back_and_is_up_to_date_when_it_wakes(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.page.clock.install()
    await looking.open("/systems/cosmos")
    await visible(looking, "kvstore-6")
    await looking.page.evaluate(HIDE, True)
    await looking.page.clock.run_for(ASLEEP_MS)
    await looking.page.wait_for_selector("#live:not([data-live=live])")
    server.change("panel/cosmos", {"full-8": full_node(8, name="kvstore-at-night")})
    await looking.page.evaluate(HIDE, False)
    await looking.live()
    await visible(looking, "kvstore-at-night")


async def test_a_tab_that_slept_for_an_hour_is_up_to_date_within_two_seconds_of_waking(
    looking: Viewer, server: ConsoleServer
) -> None:
    """The page's clock stands still until everything has arrived: what it waits for is counted."""
    clock = looking.page.clock
    await clock.install()
    await looking.open("/systems/cosmos")
    await visible(looking, "kvstore-6")
    await looking.page.evaluate(HIDE, True)
    await clock.fast_forward(HOUR_MS)
    await looking.page.wait_for_selector("#live:not([data-live=live])")
    now = await looking.page.evaluate("Date.now()")
    await clock.pause_at(datetime.fromtimestamp(now / 1000 + 5, UTC))
    server.change("panel/cosmos", {"full-8": full_node(8, name="kvstore-at-night")})
    await looking.page.evaluate(HIDE, False)
    async with patience.within(20):
        while not await looking.page.evaluate(ARRIVED):
            assert await looking.page.evaluate("document.hidden") is False
    await clock.run_for(AWAKE_MS)
    assert await looking.page.get_by_text("kvstore-at-night").count() > 0
    assert await looking.page.locator("#live-word").inner_text() == "Live"


async def test_a_machine_that_slept_with_the_page_open_asks_again_for_what_there_is(
    looking: Viewer, server: ConsoleServer
) -> None:
    """No event tells a page of that; the connection may look as good as before."""
    await looking.page.clock.install()
    await looking.open("/systems/cosmos")
    await visible(looking, "kvstore-6")
    server.change("panel/cosmos", {"full-8": full_node(8, name="kvstore-at-night")}, lost=True)
    await looking.page.clock.fast_forward(HOUR_MS)
    await visible(looking, "kvstore-at-night")
    await looking.live()


async def test_an_operator_that_is_installed_or_removed_comes_and_goes_without_a_reload(
    looking: Viewer, server: ConsoleServer
) -> None:
    meta = server.topics["panel/cosmos"].meta
    rows = dict(server.topics["panel/cosmos"].rows)
    server.put("panel/cosmos", {}, **{**meta, "installed": False})
    await looking.open("/systems/cosmos")
    await visible(looking, "Not installed")
    await visible(looking, "quintant install cosmos")
    server.change("panel/cosmos", rows, meta={"installed": True})
    await visible(looking, "kvstore-6")
    server.change("panel/cosmos", remove=tuple(rows), meta={"installed": False})
    await visible(looking, "quintant install cosmos")
