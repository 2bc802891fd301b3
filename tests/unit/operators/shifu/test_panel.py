"""Devices on the console, and on its map."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.meta import Condition
from quintant.core.object import ObjectMeta, replace
from quintant.operators.shifu.api.device import (
    DeviceShifuStatus,
    EdgeDevice,
    EdgeDeviceSpec,
    EdgeDeviceStatus,
    PlacementStatus,
)
from quintant.operators.shifu.api.names import LOCATION
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeSpec, EdgeNodeStatus
from quintant.operators.shifu.panel import device_row, map_device, node_row
from quintant.testing import named


def device(status: EdgeDeviceStatus | None, **spec: Any) -> EdgeDevice:
    return EdgeDevice(metadata=named("camera"), spec=EdgeDeviceSpec(**spec), status=status)


def condition(type: str, status: str, message: str = "") -> Condition:
    return Condition(type=type, status=status, message=message)


@pytest.mark.parametrize(
    ("phase", "conditions", "state"),
    [
        ("Running", (condition("Ready", "True"),), "well"),
        ("Pending", (condition("Ready", "False"),), "working"),
        ("Failed", (condition("Ready", "False"),), "broken"),
        ("Running", (condition("Stalled", "True"),), "broken"),
        ("Strange", (), "unknown"),
        ("", (), "unknown"),
    ],
)
def test_a_device_is_what_its_conditions_and_its_phase_say(
    phase: str, conditions: tuple[Condition, ...], state: str
) -> None:
    row = device_row(device(EdgeDeviceStatus(phase=phase, conditions=conditions)))
    assert row.state == state


def test_a_phase_that_is_worse_than_the_conditions_does_not_borrow_their_words() -> None:
    status = EdgeDeviceStatus(
        phase="Failed", conditions=(condition("Ready", "True", "it answers"),)
    )
    row = device_row(device(status))
    assert row.state == "broken"
    assert row.sentence == "its phase is Failed, while its conditions say: it answers"


def test_a_node_that_is_lost_says_what_that_means() -> None:
    meta = ObjectMeta(name="paris")
    node = EdgeNode(metadata=meta, spec=EdgeNodeSpec(), status=EdgeNodeStatus(phase="Lost"))
    assert "its devices go to other nodes" in node_row(node).sentence


def test_a_device_without_a_status_is_unknown_and_on_the_map_without_a_node() -> None:
    assert device_row(device(None)).state == "unknown"
    assert map_device(device(None)).link_state == ""


def test_the_map_knows_why_a_device_is_there_and_how_to_ask_it() -> None:
    status = EdgeDeviceStatus(
        phase="Running",
        placement=PlacementStatus(node_name="paris", reason="it is near", distance_meters=5),
        device_shifu=DeviceShifuStatus(
            url="http://camera.deviceshifu.svc", instructions=("capture", "move to")
        ),
    )
    shown = map_device(device(status))
    assert (shown.node, shown.reason, shown.distance) == ("paris", "it is near", 5)
    assert (shown.link_state, shown.instructions) == ("attached", ("capture", "move to"))
    assert shown.curl == "curl http://camera.deviceshifu.svc/capture"


def test_a_name_that_a_shell_or_a_url_would_take_apart_is_one_word_of_the_curl_line() -> None:
    shifu = DeviceShifuStatus(url="http://camera", instructions=("x; rm 'a'?b#c",))
    shown = map_device(device(EdgeDeviceStatus(phase="Running", device_shifu=shifu)))
    assert shown.curl == "curl http://camera/x%3B%20rm%20%27a%27%3Fb%23c"


@pytest.mark.parametrize(
    ("managed", "phase", "link_state"),
    [(True, "Running", "attached"), (True, "Pending", "pending"), (False, "Running", "adopted")],
)
def test_links_are_told_apart(managed: bool, phase: str, link_state: str) -> None:
    status = EdgeDeviceStatus(
        phase=phase,
        placement=PlacementStatus(node_name="paris"),
        device_shifu=DeviceShifuStatus(managed=managed),
    )
    assert map_device(device(status)).link_state == link_state


def test_a_bad_location_is_no_location() -> None:
    found = device(None)
    meta = replace(found.metadata, annotations={LOCATION: "nowhere"})
    assert map_device(replace(found, metadata=meta)).latitude is None
    meta = replace(found.metadata, annotations={LOCATION: "48.86,2.35"})
    assert map_device(replace(found, metadata=meta)).latitude == 48.86
