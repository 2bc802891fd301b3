"""CRC-32C, by the vectors of RFC 3720."""

from __future__ import annotations

import pytest

from quintant.agents.leveldb.crc32c import crc32c, masked


@pytest.mark.parametrize(
    ("data", "checksum"),
    [
        (b"\0" * 32, 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"123456789", 0xE3069283),
    ],
)
def test_vectors(data: bytes, checksum: int) -> None:
    assert crc32c(data) == checksum
    assert masked(checksum) != checksum
