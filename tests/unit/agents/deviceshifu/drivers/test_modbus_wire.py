"""Answers of a Modbus device: the one to the request is believed, and no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.deviceshifu.drivers.modbus_wire import (
    HEADER_BYTES,
    BadAnswer,
    ModbusRefused,
    ModbusRequest,
    bits_of,
    body_length,
    encode_frame,
    read_answer,
    read_request,
    write_coils,
    write_registers,
)

REQUESTS = (
    read_request(1, "holding", 0, 2),
    read_request(1, "coil", 3, 9),
    write_registers(1, 0, [7]),
    write_registers(1, 0, [7, 8]),
    write_coils(1, 0, [True]),
    write_coils(1, 0, [True, False, True]),
)


def test_requests_are_written_as_the_standard_has_them() -> None:
    assert encode_frame(REQUESTS[0], 1).hex() == "000100000006010300000002"
    assert encode_frame(REQUESTS[3], 2).hex() == "00020000000b0110000000020400070008"
    assert encode_frame(REQUESTS[4], 3).hex() == "00030000000601050000ff00"
    assert encode_frame(REQUESTS[5], 4).hex() == "000400000008010f000000030105"


def test_what_was_asked_is_read() -> None:
    assert read_answer(bytes.fromhex("030400070008"), REQUESTS[0]) == bytes.fromhex("00070008")
    assert bits_of(read_answer(bytes.fromhex("01020301"), REQUESTS[1]), 9)[-3:] == [False, False, 1]
    with pytest.raises(ModbusRefused, match="exception 2"):
        read_answer(b"\x83\x02", REQUESTS[0])


@given(st.binary(min_size=1, max_size=300), st.sampled_from(REQUESTS))
def test_any_bytes_are_an_answer_a_refusal_or_none(body: bytes, request: ModbusRequest) -> None:
    try:
        assert len(read_answer(body, request)) == request.size
    except (BadAnswer, ModbusRefused):
        return


@given(st.binary(min_size=HEADER_BYTES, max_size=HEADER_BYTES), st.sampled_from(REQUESTS))
def test_no_header_announces_more_than_the_standard_has(
    header: bytes, request: ModbusRequest
) -> None:
    try:
        assert 1 <= body_length(header, request, 1) <= 253
    except BadAnswer:
        return
