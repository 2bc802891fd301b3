"""The masks of WebSocket bytes (RFC 6455, 5.3): every byte that a client sends goes through here.

Masked is unmasked: the same function does both. Where `websockets` has no compiled masking for a
platform, integers of Python do it, which doubles what a megabyte through a tunnel costs
(`benchmarks/masking.py`).
"""

from __future__ import annotations

from collections.abc import Callable

Bytes = bytes | bytearray | memoryview
Mask = Callable[[Bytes, bytes], bytes]


def mask_with_integers(data: Bytes, mask: bytes | bytearray) -> bytes:
    """The data with each byte changed by the mask's byte of its turn; a mask has four."""
    size = len(data)
    repeated = (mask * (size // 4 + 1))[:size]
    found = int.from_bytes(data, "little") ^ int.from_bytes(repeated, "little")
    return found.to_bytes(size, "little")


try:
    from websockets.speedups import apply_mask as _compiled
except ImportError:
    _compiled = mask_with_integers

apply_mask: Mask = _compiled
"""What is used: the best there is here."""
