"""Devices that make no sense: each is told why, and shown; those that can be served are."""

from __future__ import annotations

from typing import Any, NamedTuple

from testbeds.shifu import ShifuTestbed, condition_of


class BadDevice(NamedTuple):
    """What is wrong with a device, and what is said of it."""

    reason: str
    spec: dict[str, Any]
    hints: dict[str, str]
    type: str = "ConfigValid"
    said: str = ""
    served: bool = False


BAD = {
    "no-protocol": BadDevice("NoProtocol", {"protocol": ""}, {}),
    "unknown-protocol": BadDevice("UnsupportedProtocol", {"protocol": "NATS"}, {}, said="NATS"),
    "no-address": BadDevice("NoAddress", {"address": ""}, {}),
    "serial": BadDevice(
        "NodeLocalDeviceWithoutNode", {"connection": "Serial"}, {}, "Scheduled", "edge-node"
    ),
    "usb": BadDevice(
        "NodeLocalDeviceWithoutNode", {"address": "/dev/ttyUSB0"}, {}, "Scheduled", "edge-node"
    ),
    "lost-pin": BadDevice("PinnedNodeNotFound", {}, {"edge-node": "mars"}, "Scheduled", "mars"),
    "large": BadDevice(
        "NoFeasibleNode", {}, {"memory-request": "1Ti"}, "Scheduled", "1 InsufficientMemory"
    ),
    "location": BadDevice("BadLocation", {}, {"location": "91,0"}, said="location", served=True),
    "quantity": BadDevice(
        "BadHint", {}, {"memory-request": "much"}, said="memory-request", served=True
    ),
    "duration": BadDevice("BadHint", {}, {"autonomy": "soon"}, said="autonomy", served=True),
    "selector": BadDevice("BadHint", {}, {"node-selector": "="}, said="node-selector", served=True),
    "number": BadDevice("BadHint", {}, {"priority": "high"}, said="priority", served=True),
    "word": BadDevice("BadHint", {}, {"reschedule": "maybe"}, said="reschedule", served=True),
}


async def test_every_mistake_is_named_and_holds_nobody_up(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    for name, bad in BAD.items():
        await testbed.device(name, hints=bad.hints, **bad.spec)

    for name, bad in BAD.items():
        found = condition_of(await testbed.said(name, bad.type, bad.reason), bad.type)
        assert found.status == "False"
        assert bad.said in found.message
        if bad.served:
            await testbed.placed(name, "n1")

    served = {name for name, bad in BAD.items() if bad.served}
    assert set(await testbed.where()) == served
    assert len(await testbed.deployments()) == len(served)
    assert testbed.topology is not None
    lines = testbed.topology.edgemap.text().splitlines()
    assert {f"[{name}]" for name in BAD.keys() - served} <= set(lines)
