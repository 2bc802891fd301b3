"""The edgeMap: every node and device, never too many shapes, and moves that are seen."""

from __future__ import annotations

import pytest

from testbeds.chromium import Viewer, viewer
from testbeds.console_rows import device, edgemap, move
from testbeds.console_server import ConsoleServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
MOST_SHAPES = 500
BOXES = ".box, .chip"
MAP = ".site, .dot, .cell-count, .map-links path"
CHIP = ".chip[data-key='device/factory/light-4']"


async def test_a_device_that_moves_is_the_same_element_elsewhere_and_in_the_timeline(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.open("/edgemap")
    chip = looking.page.locator(CHIP)
    await looking.page.locator(f".box:has-text('edge-4') {CHIP}").wait_for()
    await chip.evaluate("(chip) => { chip.known = true; }")
    other = looking.page.locator(".chip[data-key='device/factory/light-1']")
    await other.evaluate("(chip) => { chip.known = true; }")
    cause = "edge-4 was stopped by hand"
    moved = {**move(0), "device": "factory/light-4", "to": "edge-2", "cause": cause}
    rows = {"device/factory/light-4": device(4, "edge-2", previous_node="edge-4")}
    server.change("edgemap", rows, meta={"timeline": [moved]})
    await looking.page.locator(f".box:has-text('edge-2') {CHIP}").wait_for()
    assert await chip.evaluate("(chip) => chip.known")
    assert await chip.get_attribute("data-moved") == "true"
    assert await other.evaluate("(chip) => chip.known")
    await looking.page.get_by_text(cause).wait_for()


async def test_boxes_have_bars_and_links_and_states_are_told_apart_without_colour(
    looking: Viewer,
) -> None:
    await looking.open("/edgemap")
    box = looking.page.locator(".box", has_text="edge-2")
    await box.get_by_text("1.5 GiB of 4 GiB").wait_for()
    await box.get_by_text("1.7 of 4").wait_for()
    styles = {
        name: await looking.page.locator(f".chip[data-key='device/factory/{name}'] a").evaluate(
            "(link) => getComputedStyle(link).borderTopStyle"
        )
        for name in ("light-0", "light-2", "light-3")
    }
    assert styles == {"light-0": "solid", "light-2": "double", "light-3": "dashed"}
    shapes = "(chip) => chip.querySelector('.shape-body').getAttribute('d')"
    drawn = {
        await looking.page.locator(f".chip[data-key='device/factory/{name}']").evaluate(shapes)
        for name in ("light-0", "light-3", "light-9")
    }
    assert len(drawn) == 3
    assert await looking.page.locator(".box .tag:visible").count() == 3


async def test_who_wants_no_motion_sees_a_mark_instead(
    browser: object, server: ConsoleServer
) -> None:
    async with viewer(browser, server.url, reduced_motion="reduce") as looking:
        await looking.open("/edgemap")
        await looking.page.locator(CHIP).wait_for()
        server.change("edgemap", {"device/factory/light-4": device(4, "edge-2")})
        await looking.page.locator(f"{CHIP}[data-moved]").wait_for()
        count = f'document.querySelector("{CHIP}").getAnimations().length'
        assert await looking.page.evaluate(count) == 0


@pytest.mark.parametrize(("nodes", "devices"), [(500, 10_000), (3, 10_000), (40, 800)])
async def test_there_are_never_more_than_500_shapes(
    looking: Viewer, server: ConsoleServer, nodes: int, devices: int
) -> None:
    edgemap(server, nodes, devices)
    await looking.open("/edgemap")
    await looking.page.get_by_text(f"{devices:,} devices", exact=True).wait_for()
    await looking.page.locator(".box").first.wait_for()
    assert 0 < await looking.page.locator(BOXES).count() <= MOST_SHAPES
    opened = ",".join(f"edge-{at}" for at in range(nodes))
    await looking.open(f"/edgemap?open={opened}")
    await looking.page.locator(".chip").first.wait_for()
    assert await looking.page.locator(BOXES).count() <= MOST_SHAPES
    await looking.open("/edgemap?view=map")
    await looking.page.locator(".cell-count").first.wait_for()
    assert await looking.page.locator(MAP).count() <= MOST_SHAPES


async def test_a_full_node_is_a_count_that_is_opened_on_demand(
    looking: Viewer, server: ConsoleServer
) -> None:
    edgemap(server, 2, 60)
    await looking.open("/edgemap")
    await looking.page.get_by_role("link", name="Open 59 devices").click()
    await looking.page.locator(".box:has-text('edge-0') .chip").nth(58).wait_for()
    assert "open=edge-0" in looking.page.url


@pytest.mark.parametrize("text", ["light-7", "lamp-1 mqtt", "hall=h3", "edge-2"])
async def test_devices_are_searched_by_name_sku_protocol_node_and_label(
    looking: Viewer, text: str
) -> None:
    await looking.open("/edgemap")
    await looking.page.locator(".chip").nth(19).wait_for()
    await looking.page.get_by_role("searchbox").fill(text)
    await looking.page.get_by_text("of 20 devices").wait_for()
    assert 0 < await looking.page.locator(".chip").count() < 20


async def test_only_what_is_broken_is_shown_on_request(looking: Viewer) -> None:
    await looking.open("/edgemap")
    await looking.page.get_by_role("button", name="only what is broken").click()
    await looking.page.get_by_text("2 of 20 devices").wait_for()
    shown = await looking.page.locator(".chip").all_inner_texts()
    assert all("failed" in text for text in shown)
    assert len(shown) == 2


async def test_keys_alone_lead_from_the_overview_to_the_reason_of_a_device(
    looking: Viewer,
) -> None:
    await looking.open("/")
    await looking.page.get_by_role("link", name="edgeMap").wait_for()
    await tab_to(looking, "edgeMap")
    await looking.page.keyboard.press("Enter")
    await looking.page.locator(".chip").nth(19).wait_for()
    await tab_to(looking, "light-9failed")
    await looking.page.keyboard.press("Enter")
    panel = looking.page.get_by_role("region", name="Device")
    await panel.get_by_text("edge-4 is nearest: 1.5 km, 512 MiB free").wait_for()
    await panel.get_by_text("curl http://deviceshifu-light-9").wait_for()
    heading = await looking.page.evaluate("document.activeElement.textContent")
    assert heading == "factory/light-9"
    await looking.page.keyboard.press("Escape")
    await panel.wait_for(state="hidden")
    assert await looking.page.evaluate("document.activeElement.textContent") == "light-9failed"


async def tab_to(looking: Viewer, text: str) -> None:
    """Press Tab until what is focused has a text; every element on the way is visible."""
    for _ in range(120):
        await looking.page.keyboard.press("Tab")
        focused = "document.activeElement.textContent"
        if await looking.page.evaluate(focused) == text:
            return
    raise AssertionError(f"Tab does not lead to {text}")


async def test_a_device_says_why_it_is_where_it_is_and_its_address_is_the_link_to_share(
    looking: Viewer,
) -> None:
    await looking.open("/edgemap?device=factory/light-10")
    panel = looking.page.get_by_role("region", name="Device")
    await panel.get_by_role("heading", name="factory/light-10").wait_for()
    names = await panel.locator("dt").all_inner_texts()
    facts = dict(zip(names, await panel.locator("dd").all_inner_texts(), strict=True))
    assert facts["Why here"] == "edge-0 is nearest: 1.5 km, 512 MiB free"
    assert (facts["Placement"], facts["Distance"]) == ("nearest", "1.48 km")
    assert (facts["Node"], facts["Node before"], facts["Link"]) == ("edge-0", "edge-4", "attached")


async def test_the_text_form_is_copied(looking: Viewer, server: ConsoleServer) -> None:
    await looking.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await looking.open("/edgemap")
    await looking.page.get_by_role("button", name="Copy as text").click()
    await looking.page.get_by_role("button", name="Copied").wait_for()
    assert await looking.page.evaluate("navigator.clipboard.readText()") == "edge-0: light-0\n"
