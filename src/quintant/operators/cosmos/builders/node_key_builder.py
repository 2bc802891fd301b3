"""Node keys: the identity of a node among its peers, kept byte for byte. Pure.

    {"priv_key": {"type": "tendermint/PrivKeyEd25519", "value": base64(seed and public key)}}

The id of a node is the beginning of the hash of its public key. A text that is no key is an error,
never a reason to make another.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from hashlib import sha256

import msgspec

TYPE = "tendermint/PrivKeyEd25519"
SEED_BYTES = 32
_ID_BYTES = 20


class DamagedNodeKey(ValueError):
    """A text that should be a node key and is none; it says nothing of what is in it."""


@dataclass(frozen=True, slots=True)
class NodeKey:
    """A key, as its file has it, and the id that follows from it."""

    text: str = field(repr=False)
    node_id: str


def build_node_key(seed: bytes) -> NodeKey:
    """The key of a seed."""
    # 6 MB, which whoever only shows chains does not need.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    value = base64.b64encode(seed + public).decode()
    key = {"priv_key": {"type": TYPE, "value": value}}
    return NodeKey(msgspec.json.encode(key).decode(), _node_id(public))


def parse_node_key(text: str) -> NodeKey:
    """The key that a text is; DamagedNodeKey if it is none."""
    try:
        value = msgspec.json.decode(text)["priv_key"]["value"]
        raw = base64.b64decode(value, validate=True)
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, binascii.Error):
        raise DamagedNodeKey("it is no node key") from None
    if len(raw) != 2 * SEED_BYTES:
        raise DamagedNodeKey(f"it has {len(raw)} bytes and not {2 * SEED_BYTES}")
    return NodeKey(text, _node_id(raw[SEED_BYTES:]))


def _node_id(public: bytes) -> str:
    return sha256(public).digest()[:_ID_BYTES].hex()
