"""What is served at /networks: the networks as their LightNetworks show them."""

from __future__ import annotations

import json
from typing import Any

from quintant.operators.klight.lightnetwork.report import WORD
from testbeds.klight import KlightTestbed


async def read(testbed: KlightTestbed, path: str = "") -> Any:
    assert testbed.engine is not None
    told = await testbed.engine.json_pages[WORD](path)
    return None if told is None else json.loads(told)


async def test_every_network_is_told_with_its_stack_and_peers(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", network="Net")
    await testbed.add("p3", network="b")
    shown = await testbed.shown("Net")
    first, second = (await read(testbed))["networks"]
    assert (first["id"], second["id"]) == ("Net", "b")
    assert first["name"] == shown.metadata.name
    assert first["stack"] == [await testbed.address("p2"), await testbed.address("p1")]
    assert [each["pod"] for each in first["peers"]] == ["p2", "p1"]


async def test_one_network_is_told_by_namespace_and_id(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", network="Net")
    await testbed.shown("Net")
    assert (await read(testbed, "default/Net"))["members"] == 1
    assert await read(testbed, "default/net") is None
    assert await read(testbed, "default") is None


async def test_controller_of_some_namespaces_tells_of_these(testbed: KlightTestbed) -> None:
    await testbed.start(namespaces=("default",))
    await testbed.add("p1", network="Net")
    await testbed.shown("Net")
    assert [each["id"] for each in (await read(testbed))["networks"]] == ["Net"]
