"""Messages of an OPC UA server that would become huge, or never end, are refused."""

from __future__ import annotations

import struct

import pytest
from asyncua import ua
from asyncua.common.utils import Buffer
from asyncua.ua.ua_binary import variant_from_binary, variant_to_binary

import quintant.agents.deviceshifu.drivers.opcua_bounds as bounds

NULL, INT32, STRING, VARIANT = 0, 6, 12, 24
ARRAY, SHAPED = 0x80, 0xC0


def _array(kind: int, length: int, rest: bytes = b"") -> bytes:
    return struct.pack("<Bi", ARRAY | kind, length) + rest


@pytest.mark.parametrize(
    "raw",
    [
        _array(NULL, 2**31 - 1),
        _array(INT32, 2**31 - 1),
        _array(STRING, 2**31 - 1, struct.pack("<i", -4)),
        _array(VARIANT, 2**31 - 1, b"\x00" * 100),
        struct.pack("<Biii", SHAPED | INT32, 0, 1, 1_000_000),
        struct.pack("<Biiii", SHAPED | INT32, 0, 2, -1, -1),
        bytes([VARIANT]) * 100_000,
        struct.pack("<Bi", STRING, -2),
    ],
)
def test_a_few_bytes_do_not_become_many_values(raw: bytes) -> None:
    with pytest.raises((ua.UaError, struct.error, RecursionError, TypeError)):
        variant_from_binary(Buffer(raw))


@pytest.mark.parametrize("value", [[[1, 2, 3], [4, 5, 6]], [[[1], [2]], [[3], [4]]], [1, 2], []])
def test_arrays_that_are_as_large_as_they_say_are_read(value: list[object]) -> None:
    written = variant_to_binary(ua.Variant(value, ua.VariantType.Int64))
    assert variant_from_binary(Buffer(written)).Value == value


def test_what_a_server_says_of_its_limits_does_not_change_ours() -> None:
    limits = bounds.OwnLimits()
    limits.update_client_limits(ua.Acknowledge(ReceiveBufferSize=ua.UInt32(2**32 - 1)))
    assert limits.max_send_buffer == limits.max_recv_buffer == bounds.CHUNK_BYTES
    assert limits.max_message_size == bounds.MESSAGE_BYTES
    with pytest.raises(bounds.BadMessage):
        limits.update_client_limits(ua.Acknowledge(ReceiveBufferSize=ua.UInt32(0)))
