"""What is held of a device, and that it tells what we said from what others did."""

from __future__ import annotations

from typing import Any

from quintant.core.codec import from_plain
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.observed.device_view import ShifuDevice, digest_status

WRITTEN: dict[str, Any] = {
    "edgedevicephase": "Running",
    "placement": {"nodeName": "n1", "kind": "Memory", "reason": "free"},
    "deviceShifu": {"deployment": "d", "url": "http://d"},
    "conditions": [
        {"type": "Scheduled", "status": "True", "reason": "Memory"},
        {"type": "DeviceReachable", "status": "True", "reason": "Answered"},
    ],
}


def plain(**status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "a", "namespace": "devices", "labels": {"x": "y"}},
        "spec": {"protocol": "HTTP", "address": "b:1", "description": "long " * 999},
        "status": {**WRITTEN, **status},
    }


def view(**status: Any) -> ShifuDevice:
    return from_plain(ShifuDevice, plain(**status))


def test_it_has_what_decisions_need_and_not_what_is_long() -> None:
    found = view()
    assert found.spec.protocol == "HTTP"
    assert found.spec.description == ""
    assert found.status is not None
    assert found.status.placement is not None
    assert found.status.placement.node_name == "n1"
    assert found.status.device_shifu is None


def test_the_digest_is_that_of_the_whole_status() -> None:
    whole = from_plain(EdgeDevice, plain())
    assert view().status_digest == digest_status(whole.status)
    assert view().status_digest != view(deviceShifu={"deployment": "other"}).status_digest
    assert view().status_digest != view(edgedevicephase="Failed").status_digest


def test_what_the_agent_writes_does_not_change_it() -> None:
    agent = {"type": "DeviceReachable", "status": "False", "reason": "No"}
    conditions = [WRITTEN["conditions"][0], agent]
    after = view(conditions=conditions, busy=True, telemetry={"lastError": "x"})
    assert view().status_digest == after.status_digest
