"""Panels: any number of rows, filters in the address, and the keyboard."""

from __future__ import annotations

from typing import Any

import pytest

from testbeds.chromium import Viewer
from testbeds.console_rows import full_node, many_rows, node
from testbeds.console_server import ConsoleServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
MANY = 10_000
MOST_ELEMENTS = 60
ROWS = "[role=grid] .canvas .row"


async def names(looking: Viewer) -> list[str]:
    links = looking.page.locator(f"{ROWS} .cell[data-key=name] a:first-child bdi:last-child")
    found: list[str] = await links.all_inner_texts()
    return found


async def first_name(looking: Viewer, name: str) -> None:
    """Wait until a name is the first one."""
    cell = looking.page.locator(f"{ROWS}[aria-rowindex='2']", has_text=name)
    await cell.wait_for()


async def test_ten_thousand_rows_are_a_few_elements_and_every_one_can_be_reached(
    looking: Viewer, server: ConsoleServer
) -> None:
    many_rows(server, MANY)
    await looking.open("/systems/cosmos")
    await looking.page.get_by_text("10,000 objects").first.wait_for()
    assert await looking.page.locator(ROWS).count() < MOST_ELEMENTS
    grid = looking.page.get_by_role("grid", name="CosmosFullNode")
    assert await grid.get_attribute("aria-rowcount") == str(MANY + 1)
    await looking.page.locator(f"{ROWS} a[tabindex='0']").first.focus()
    await looking.page.keyboard.press("End")
    await looking.page.get_by_role("link", name="chains/kvstore-9999").wait_for()
    assert await looking.page.locator(ROWS).count() < MOST_ELEMENTS
    focused = await looking.page.evaluate("document.activeElement.textContent")
    assert focused == "chains/kvstore-9999"


async def test_rows_that_change_a_hundred_times_a_second_are_all_up_to_date_in_the_end(
    looking: Viewer, server: ConsoleServer
) -> None:
    many_rows(server, MANY)
    await looking.open("/systems/cosmos?q=kvstore-77&sort=CosmosFullNode:name")
    await looking.page.get_by_text("111 of 10,000 objects").first.wait_for()
    for at in range(500):
        server.change("panel/cosmos", {f"full-{at}": full_node(at, sentence=f"turn {at}")})
    await looking.page.get_by_text("turn 77", exact=True).wait_for()


async def test_the_address_has_the_filters_and_is_the_link_to_share(looking: Viewer) -> None:
    await looking.open("/systems/cosmos")
    await looking.page.get_by_role("button", name="broken 1").click()
    await looking.page.get_by_role("searchbox").fill("kvstore-2")
    await looking.page.wait_for_url("**/systems/cosmos?state=broken&q=kvstore-2")
    assert await names(looking) == ["kvstore-2"]
    await looking.page.reload()
    await looking.page.get_by_text("1 of 7 objects").first.wait_for()
    assert await names(looking) == ["kvstore-2"]
    assert await looking.page.get_by_role("searchbox").input_value() == "kvstore-2"
    await looking.page.go_back()
    await looking.page.wait_for_url("**/systems/cosmos")
    await looking.page.get_by_text("7 objects", exact=True).first.wait_for()


async def test_a_column_sorts_figures_as_figures(looking: Viewer, server: ConsoleServer) -> None:
    server.change("panel/cosmos", {"full-0": full_node(0, cells=["990", "1/3", "v1"])})
    await looking.open("/systems/cosmos")
    await first_name(looking, "kvstore-2")
    await looking.page.get_by_role("button", name="Height").click()
    await first_name(looking, "kvstore-0")
    await looking.page.get_by_role("button", name="Height").click()
    await first_name(looking, "kvstore-6")
    header = looking.page.get_by_role("columnheader", name="Height")
    assert await header.get_attribute("aria-sort") == "descending"


@pytest.mark.parametrize("path", ["/events", "/changes", "/nodes"])
async def test_what_is_not_known_yet_is_not_said_to_be_nothing(
    looking: Viewer, server: ConsoleServer, path: str
) -> None:
    server.silent = True
    await looking.page.goto(looking.url + path)
    count = looking.page.locator(".filters .count")
    await looking.page.get_by_role("heading", level=1).wait_for()
    assert await count.inner_text() == "Reading…"


async def test_nothing_to_show_says_what_to_do(looking: Viewer, server: ConsoleServer) -> None:
    server.put("panel/cosmos", {}, **server.topics["panel/cosmos"].meta)
    await looking.open("/systems/cosmos")
    await looking.page.get_by_text("No CosmosFullNode yet. Apply one").wait_for()
    server.change("panel/cosmos", {"full-1": full_node(1)})
    await looking.page.get_by_role("searchbox").fill("nobody")
    await looking.page.get_by_text("Take away a filter").wait_for()


async def shown_overview(looking: Viewer) -> Any:
    await looking.open("/")
    return looking.page.locator(".system-title")


async def test_the_overview_has_the_broken_first_and_says_why(looking: Viewer) -> None:
    titles = await shown_overview(looking)
    await titles.nth(4).wait_for()
    assert await titles.all_inner_texts() == ["cosmos", "shifu", "infra", "klight", "portal"]
    await looking.page.get_by_text("no peer sends it blocks").wait_for()
    await looking.page.get_by_role("link", name="CosmosFullNode chains/kvstore-2").click()
    await looking.page.wait_for_url("**/objects/cosmos.strange.love/**")


async def test_the_overview_has_operators_with_figures_or_why_there_are_none_and_plots(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.open("/")
    operators = looking.page.get_by_role("region", name="Operators", exact=True)
    line = operators.get_by_role("row", name="shifu")
    await line.get_by_text("shifu-system led by shifu-6f9c-4xk2").wait_for()
    assert await line.get_by_role("cell").all_inner_texts() == ["1 of 1", "0.2.0", "1", "5.4", "0"]
    words = "Height of the highest chain: 4,059 blocks, between 4,000 and 4,059"
    plot = looking.page.get_by_role("img", name=words)
    assert await plot.locator(".plot-line").get_attribute("d")
    row = server.topics["overview"].rows["operator/shifu"]
    none = {"reconcile_rate": None, "error_rate": None, "figures": "no figures: not allowed"}
    server.change("overview", {"operator/shifu": {**row, **none}})
    await line.get_by_text("no figures").wait_for()
    await operators.get_by_text("shifu: no figures: not allowed.").wait_for()


async def test_the_overview_has_the_node_with_a_fault_first_and_how_much_memory_is_free(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.open("/")
    nodes = looking.page.get_by_role("region", name="Nodes")
    await nodes.get_by_text("6 nodes, 3 simulated: 1 with a fault, ").wait_for()
    lines = nodes.locator(".node")
    assert await lines.first.locator("a").inner_text() == "edge-4"
    await lines.first.get_by_text("it has not reported for 50 s").wait_for()
    free = await lines.locator(".node-free").all_inner_texts()
    assert free[1] == "870 MiB free", "of those that are well, the fullest"
    server.change("nodes", {"edge-1": node(1, broken=True)})
    await nodes.get_by_text("2 with a fault").wait_for()


async def test_what_changed_in_one_namespace_is_a_list_with_an_address_of_its_own(
    looking: Viewer,
) -> None:
    await looking.open("/changes")
    await looking.page.locator(".change").nth(3).wait_for()
    choice = looking.page.get_by_role("combobox", name="Namespace")
    await choice.select_option("factory")
    await looking.page.wait_for_url("**/changes/factory")
    await looking.page.reload()
    await looking.page.get_by_role("heading", name="Changes in factory").wait_for()
    await looking.page.get_by_text("2 changes", exact=True).wait_for()
    assert await looking.page.locator(".change").count() == 2
    current = looking.page.get_by_role("navigation").locator("[aria-current=page]")
    assert await current.inner_text() == "Changes"
    await choice.select_option("All namespaces")
    await looking.page.wait_for_url("**/changes")


@pytest.mark.parametrize("path", ["/events", "/changes", "/nodes"])
async def test_lists_are_searched_by_the_address(looking: Viewer, path: str) -> None:
    await looking.open(f"{path}?q=nothing+is+like+this")
    await looking.page.locator("p.empty:visible").first.wait_for()
    await looking.page.get_by_role("searchbox").fill("edge-1" if path == "/nodes" else "light-1")
    await looking.page.locator("p.empty:visible").first.wait_for(state="detached")
