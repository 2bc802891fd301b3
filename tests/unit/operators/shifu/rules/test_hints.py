"""Hints: where they may stand, which wins, and what becomes of nonsense."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.device import DevicePlacement, EdgeDevice, EdgeDeviceSpec
from quintant.operators.shifu.rules.hints import Hints, hint_aspects, resolve_hints

PREFIX = "shifu.edgenesis.io/"


def device(notes: dict[str, str] | None = None, **spec: Any) -> EdgeDevice:
    named = {PREFIX + key: value for key, value in (notes or {}).items()}
    return EdgeDevice(
        metadata=ObjectMeta(name="a", namespace="devices", annotations=named),
        spec=EdgeDeviceSpec(**spec),
    )


def test_without_hints_there_are_defaults() -> None:
    assert resolve_hints(device()) == Hints()


def test_the_spec_wins_over_the_annotation_and_that_over_custom_metadata() -> None:
    everywhere = device(
        {"edge-node": "noted", "zone": "noted"},
        placement=DevicePlacement(node_name="typed"),
        custom_metadata={"edgeNode": "custom", "zone": "custom", "region": "custom"},
    )
    found = resolve_hints(everywhere)
    assert (found.node, found.zone, found.region) == ("typed", "noted", "custom")


@pytest.mark.parametrize(
    ("notes", "custom"),
    [
        ({"location": "1.5,2.5"}, {}),
        ({}, {"Latitude": "1.5", "Longitude": "2.5"}),
        ({}, {"Location": "1.5,2.5"}),
        ({}, {"location": "1.5,2.5"}),
    ],
)
def test_a_location_may_stand_in_several_places(
    notes: dict[str, str], custom: dict[str, str]
) -> None:
    found = resolve_hints(device(notes, custom_metadata=custom))
    assert found.location == (1.5, 2.5)
    assert found.errors == ()


def test_free_text_for_a_location_is_no_mistake() -> None:
    found = resolve_hints(device(custom_metadata={"Location": "Factory Floor A"}))
    assert (found.location, found.errors) == (None, ())


def test_every_hint_is_understood() -> None:
    found = resolve_hints(
        device(
            {
                "edge-node": "n1", "pin-policy": "Preferred", "reschedule": "on-node-loss",
                "memory-request": "64Mi", "configmap": "mine", "deviceshifu": "unmanaged",
                "priority": "-3", "autonomy": "5m", "exclusive": "true",
                "node-selector": "site=x, example.dev/tier=", "zone": "z", "region": "r",
            }
        )
    )  # fmt: skip
    assert found == Hints(
        node="n1", strict=False, reschedule="on-node-loss", memory=64 * 2**20, config_map="mine",
        managed=False, priority=-3, autonomy=300.0, exclusive=True,
        selector={"site": "x", "example.dev/tier": ""}, zone="z", region="r",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("location", "abc", "BadLocation"),
        ("location", "91,0", "BadLocation"),
        ("edge-node", "No Such", "BadHint"),
        ("edge-node", "../etc", "BadHint"),
        ("pin-policy", "soft", "BadHint"),
        ("reschedule", "sometimes", "BadHint"),
        ("memory-request", "lots", "BadHint"),
        ("memory-request", "-1Mi", "BadHint"),
        ("memory-request", "0", "BadHint"),
        ("configmap", "a/b", "BadHint"),
        ("deviceshifu", "adopt", "BadHint"),
        ("priority", "1.5", "BadHint"),
        ("priority", "9" * 30, "BadHint"),
        ("autonomy", "-5m", "BadHint"),
        ("autonomy", "soon", "BadHint"),
        ("exclusive", "yes", "BadHint"),
        ("node-selector", "site", "BadHint"),
        ("node-selector", "a b=c", "BadHint"),
    ],
)
def test_nonsense_is_named_and_its_default_used(key: str, value: str, reason: str) -> None:
    found = resolve_hints(device({key: value}))
    (error,) = found.errors
    assert error.reason == reason
    assert error.message.startswith(f'{key} "')
    assert "expected" in error.message or "latitude" in error.message
    assert resolve_hints(device()) == Hints(**{**_fields(found), "errors": ()})


def test_what_is_repeated_of_nonsense_is_short_and_has_no_control_characters() -> None:
    (error,) = resolve_hints(device({"priority": "\x1b[31m" + "x" * 5000})).errors
    assert len(error.message) < 120
    assert error.message.isprintable()


def test_other_annotations_are_no_hints() -> None:
    noted = device({"edge-node": "n1"})
    other = device({"edge-node": "n1", "seen-by": "somebody"})
    assert hint_aspects(noted) == hint_aspects(other)


def _fields(hints: Hints) -> dict[str, Any]:
    return {name: getattr(hints, name) for name in Hints.__dataclass_fields__}


def test_a_location_that_is_left_blank_is_none_and_no_mistake() -> None:
    blank = {"Latitude": " ", "Longitude": "", "location": "  "}
    device = EdgeDevice(
        metadata=ObjectMeta(name="x", namespace="d"), spec=EdgeDeviceSpec(custom_metadata=blank)
    )
    assert resolve_hints(device) == Hints()
    spaces = {"Latitude": " ", "Longitude": " "}
    device = EdgeDevice(
        metadata=ObjectMeta(name="x", namespace="d"), spec=EdgeDeviceSpec(custom_metadata=spaces)
    )
    assert resolve_hints(device) == Hints()
