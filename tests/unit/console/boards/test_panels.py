"""Rows of panels, also of those that others wrote."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from quintant.console.boards.panels import typed_kind
from quintant.console.views import ConsoleObject, console_kind, view_object
from quintant.core.resource import resource_of
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.runtime.observe.system_panel import PanelKind, PanelRow


def device(name: str) -> ConsoleObject:
    plain = {"metadata": {"name": name}, "spec": {"sku": name}}
    raw = msgspec.json.decode(msgspec.json.encode(plain), type=dict[str, msgspec.Raw])
    return view_object(console_kind(resource_of(EdgeDevice)), raw)


def strange_row(obj: EdgeDevice) -> PanelRow:
    match obj.spec.sku:
        case "fails":
            raise ZeroDivisionError
        case "nothing":
            return cast("PanelRow", None)
        case "elated":
            return PanelRow(cast("Any", "elated"), "")
    return PanelRow("well", "as it should be")


def test_a_panel_that_fails_on_an_object_shows_it_as_unknown_and_the_others_as_they_are() -> None:
    kind = typed_kind(PanelKind(EdgeDevice, (), strange_row))
    rows = [kind.row(device(name)) for name in ("fails", "nothing", "elated", "fine")]
    assert [each.state for each in rows] == ["unknown", "unknown", "unknown", "well"]
    assert rows[0].sentence == "its panel fails on it: ZeroDivisionError"
