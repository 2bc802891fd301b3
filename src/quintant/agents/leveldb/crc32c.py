"""CRC-32C, and the masked form in which LevelDB stores it."""

from __future__ import annotations

_POLYNOMIAL = 0x82F63B78
_DELTA = 0xA282EAD8
_ALL = 0xFFFFFFFF


def _entry(number: int) -> int:
    for _ in range(8):
        number = number >> 1 ^ (_POLYNOMIAL if number & 1 else 0)
    return number


_TABLE = tuple(map(_entry, range(256)))


def crc32c(data: bytes) -> int:
    """The checksum of some bytes."""
    table, found = _TABLE, _ALL
    for byte in data:
        found = table[(found ^ byte) & 0xFF] ^ found >> 8
    return found ^ _ALL


def masked(checksum: int) -> int:
    """As it is stored: a checksum of data that holds checksums says little."""
    return ((checksum >> 15 | checksum << 17) + _DELTA) & _ALL
