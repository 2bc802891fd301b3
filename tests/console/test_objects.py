"""The page of an object: what is wrong, who changed what, and whatever its texts contain."""

from __future__ import annotations

from typing import Any

import pytest

from testbeds.chromium import Viewer
from testbeds.console_rows import (
    ago,
    condition,
    device,
    device_link,
    device_object,
    device_topic,
    event,
    full_node,
    own_change,
)
from testbeds.console_server import ConsoleServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
NAME = "light-1"
MARKUP = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
TURNED = "\u202egnorw\u2066 <b>bold</b>"
HUGE = "x" * 100_000


async def test_a_condition_says_what_it_means_and_what_to_do(looking: Viewer) -> None:
    await looking.open(device_link(NAME))
    await looking.page.get_by_text("The deviceShifu runs, and its device does not").wait_for()
    await looking.page.get_by_text("Look at the device's power and network").wait_for()
    more = looking.page.get_by_role("link", name="Read more")
    assert await more.get_attribute("href") == "https://example.test/shifu#ready"
    assert await more.get_attribute("rel") == "noopener noreferrer"


async def test_a_changed_field_is_in_the_history_with_old_new_and_who(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.open(device_link(NAME))
    history = looking.page.get_by_role("region", name="History")
    await history.get_by_text("status.phase").wait_for()
    server.change(device_topic(NAME), {"change/3": {**own_change(0), "time": ago(0)}})
    change = history.locator("li", has_text="spec.replicas")
    await change.get_by_text("by kubectl-edit").wait_for()
    assert await change.locator(".change-old .long-text").inner_text() == "2"
    assert await change.locator(".change-new .long-text").inner_text() == "3"


async def test_an_object_that_is_deleted_says_when_and_the_next_of_its_name_is_another(
    looking: Viewer, server: ConsoleServer
) -> None:
    await looking.open(device_link(NAME))
    row = server.topics[device_topic(NAME)].rows["object"]
    server.change(device_topic(NAME), {"object": {**row, "deleted": ago(0)}})
    await looking.page.get_by_text("Deleted at").wait_for()
    again = {**row, "uid": "another", "created": ago(0), "deleted": None}
    server.change(device_topic(NAME), {"object": again}, remove=("condition/Ready",))
    await looking.page.get_by_text("This is another object of the same name").wait_for()
    await looking.page.get_by_text("Deleted at").wait_for(state="hidden")


async def test_an_object_that_is_not_there_appears_when_it_is_created(
    looking: Viewer, server: ConsoleServer
) -> None:
    server.put(device_topic("later"), {})
    await looking.open(device_link("later"))
    await looking.page.get_by_text("There is no such object").wait_for()
    device_object(server, "later")
    rows = dict(server.topics[device_topic("later")].rows)
    server.change(device_topic("later"), rows)
    await looking.page.get_by_text("What to do").first.wait_for()


async def test_markup_and_directions_are_text_and_long_texts_are_cut(
    looking: Viewer, server: ConsoleServer
) -> None:
    device_object(
        server, NAME, sentence=MARKUP, labels={"a": MARKUP}, annotations={TURNED: HUGE}, yaml=MARKUP
    )
    rows: dict[str, Any] = {
        "condition/Evil": condition(MARKUP, "Sideways", TURNED, HUGE),
        "condition/Linked": {**condition("Linked", "False", "X"), "docs": "javascript:alert(1)"},
        "event/evil": event(1, MARKUP + HUGE)[1],
        "child/evil": {"kind": MARKUP, "name": TURNED, "state": "perfect", "link": "//evil.test"},
        "change/9": {**own_change(1), "old": HUGE, "new": MARKUP, "manager": TURNED},
    }
    server.change(device_topic(NAME), rows)
    await looking.open(device_link(NAME))
    await looking.page.get_by_text("<script>window.hacked").first.wait_for()
    assert await looking.page.evaluate("window.hacked") is None
    assert await looking.page.locator("main script, main img").count() == 0
    assert await looking.page.locator("a[href^='javascript'], a[href^='//']").count() == 0
    assert await looking.page.locator(".list .long-text", has_text="x" * 400).count() == 0
    child = looking.page.locator(".child", has_text=TURNED)
    await child.get_by_text("unknown").wait_for()
    assert await child.locator("bdi").first.evaluate("(e) => getComputedStyle(e).unicodeBidi") == (
        "isolate"
    )
    change = looking.page.locator(".change", has_text="<script>")
    await change.get_by_role("button", name="more").click()
    await change.get_by_role("button", name="less").wait_for()
    assert HUGE in await change.inner_text()
    await change.get_by_role("button", name="less").click()


async def test_five_hundred_conditions_and_a_missing_status_leave_the_page_alive(
    looking: Viewer, server: ConsoleServer
) -> None:
    many = {f"condition/C{at}": condition(f"C{at}", "Unknown", "") for at in range(500)}
    server.change(device_topic(NAME), many)
    await looking.open(device_link(NAME))
    await looking.page.get_by_role("button", name="Show all 502").click()
    await looking.page.locator(".condition").nth(501).wait_for()
    bare = {"object": {"kind": "EdgeDevice", "name": NAME}}
    server.put(device_topic("bare"), bare)
    await looking.open(device_link("bare"))
    await looking.page.get_by_text("its controller has not said anything").wait_for()


async def test_rows_of_any_shape_leave_every_view_alive(
    looking: Viewer, server: ConsoleServer
) -> None:
    evil = full_node(1, name=MARKUP, namespace=TURNED, state="perfect", cells=None)
    evil |= {"sentence": HUGE, "url": "javascript:alert(1)", "link": "javascript:alert(2)"}
    server.change("panel/cosmos", {"evil": evil, "empty": {}})
    phase = device(1, "nowhere", phase="Nobody knows", state="odd", x=None, reason=MARKUP)
    rows = {"device/factory/evil": {**phase, "name": MARKUP, "labels": None}, "device/empty": {}}
    server.change("edgemap", {**rows, "node/empty": {"type": "node", "name": TURNED}})
    server.change("events", {"empty": {}, "evil": event(1, MARKUP)[1]})
    server.change("nodes", {"empty": {}})
    server.change("overview", {"system/x": {"name": MARKUP}, "operator/x": {}, "plot/x": {}})
    for path in ("/", "/systems/cosmos", "/edgemap", "/edgemap?view=map", "/events", "/nodes"):
        await looking.open(path)
        await looking.page.locator("h1").wait_for()
        await looking.page.wait_for_timeout(100)
        assert looking.errors == []
    assert await looking.page.evaluate("window.hacked") is None
