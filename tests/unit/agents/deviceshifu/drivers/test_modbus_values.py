"""Values in registers: what is written is read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.deviceshifu.drivers.modbus_point import WORDS, modbus_point
from quintant.agents.deviceshifu.drivers.modbus_values import decode_values, encode_values

NUMBERS = sorted(set(WORDS) - {"bool", "string"})


@given(st.sampled_from(NUMBERS), st.sampled_from(["big", "little"]), st.integers(0, 127))
def test_numbers_come_back(kind: str, order: str, value: int) -> None:
    point = modbus_point(
        {"ModbusAddress": "0", "ModbusType": kind, "ModbusWordOrder": order, "ModbusCount": "2"}
    )
    words = encode_values(point, [value, 0])
    raw = b"".join(each.to_bytes(2, "big") for each in words)
    assert len(words) == point.size
    assert decode_values(point, raw) == [value, 0]


@given(st.binary(max_size=40).filter(lambda raw: len(raw) % 2 == 0))
def test_no_text_of_a_device_does_harm(raw: bytes) -> None:
    point = modbus_point({"ModbusAddress": "0", "ModbusType": "string"})
    (text,) = decode_values(point, raw)
    assert isinstance(text, str)


@pytest.mark.parametrize(("kind", "value"), [("int16", 2**15), ("int64", 2**63), ("uint16", -1)])
def test_a_value_that_does_not_fit_is_refused(kind: str, value: int) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        encode_values(modbus_point({"ModbusAddress": "0", "ModbusType": kind}), [value])
