"""What a key is made from, as it is written in a Secret. Loads nothing of cryptography."""

from __future__ import annotations

import base64
import binascii

SEED_BYTES = 32


def read_seed(text: str) -> bytes:
    """The seed of a key that is written in base64; ValueError if it is none."""
    try:
        seed = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"not {SEED_BYTES} bytes in base64")
    return seed
