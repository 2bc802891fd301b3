"""Which registers the properties of an instruction name."""

from __future__ import annotations

import pytest

from quintant.agents.deviceshifu.drivers.modbus_point import (
    BadPoint,
    modbus_point,
    scaled,
    unscaled,
)


def test_what_is_left_out_is_the_usual() -> None:
    point = modbus_point({"ModbusAddress": "7"})
    assert (point.table, point.address, point.kind, point.size, point.unit) == (
        "holding", 7, "uint16", 1, 1,
    )  # fmt: skip
    assert modbus_point({"ModbusAddress": "0", "ModbusTable": "coil"}).kind == "bool"


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({}, "ModbusAddress"),
        ({"ModbusAddress": "-1"}, "ModbusAddress"),
        ({"ModbusAddress": "65536"}, "ModbusAddress"),
        ({"ModbusAddress": "0x10"}, "ModbusAddress"),
        ({"ModbusAddress": "0", "ModbusTable": "disk"}, "ModbusTable"),
        ({"ModbusAddress": "0", "ModbusType": "int8"}, "ModbusType"),
        ({"ModbusAddress": "0", "ModbusCount": "126"}, "ModbusCount"),
        ({"ModbusAddress": "0", "ModbusCount": "64", "ModbusType": "float32"}, "ModbusCount"),
        ({"ModbusAddress": "0", "ModbusScale": "nan"}, "ModbusScale"),
        ({"ModbusAddress": "0", "ModbusScale": "0"}, "ModbusScale"),
        ({"ModbusAddress": "0", "ModbusTable": "coil", "ModbusType": "int16"}, "coil"),
    ],
)
def test_what_names_no_register_is_told(properties: dict[str, str], why: str) -> None:
    with pytest.raises(BadPoint, match=why):
        modbus_point(properties)


def test_a_scale_goes_both_ways() -> None:
    point = modbus_point({"ModbusAddress": "0", "ModbusScale": "0.1", "ModbusOffset": "-40"})
    assert scaled(point, 615) == pytest.approx(21.5)
    assert unscaled(point, 21.5) == 615
