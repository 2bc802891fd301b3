"""What is served at /networks: the networks as their LightNetworks show them."""

from __future__ import annotations

import json
from typing import Any

from quintant.operators.klight.sheet import WORD
from testbeds.klight import Town


async def read(town: Town, path: str = "") -> Any:
    assert town.engine is not None
    told = await town.engine.json_pages[WORD](path)
    return None if told is None else json.loads(told)


async def test_every_network_is_told_with_its_stack_and_peers(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", network="Net")
    await town.add("p3", network="b")
    shown = await town.shown("Net")
    first, second = (await read(town))["networks"]
    assert (first["id"], second["id"]) == ("Net", "b")
    assert first["name"] == shown.metadata.name
    assert first["stack"] == [await town.address("p2"), await town.address("p1")]
    assert [each["pod"] for each in first["peers"]] == ["p2", "p1"]


async def test_one_network_is_told_by_namespace_and_id(town: Town) -> None:
    await town.start()
    await town.add("p1", network="Net")
    await town.shown("Net")
    assert (await read(town, "default/Net"))["members"] == 1
    assert await read(town, "default/net") is None
    assert await read(town, "default") is None


async def test_controller_of_some_namespaces_tells_of_these(town: Town) -> None:
    await town.start(namespaces=("default",))
    await town.add("p1", network="Net")
    await town.shown("Net")
    assert [each["id"] for each in (await read(town))["networks"]] == ["Net"]
