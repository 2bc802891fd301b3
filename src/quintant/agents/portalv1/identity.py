"""An identity: an Ed25519 key, the id that is derived from it, and what it signed. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from quintant.agents.portalv1.messages import Identity, SignedPayload
from quintant.wire.message import Message

_ID_KEY = b"RDVERB_PROTOCOL_VER_01_SHA256_ID"
_ID_BYTES = 16


def derive_id(public_key: bytes) -> str:
    """The id of a public key."""
    digest = hmac.new(_ID_KEY, public_key, hashlib.sha256).digest()
    return base64.b32encode(digest[:_ID_BYTES]).decode().rstrip("=")


class PortalCredential:
    """A private key. What it is made from is never shown."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        public = self._key.public_key().public_bytes_raw()
        self.identity: Identity = Identity(derive_id(public), public)

    @property
    def id(self) -> str:
        """The id of its public key."""
        return self.identity.id

    def sign(self, message: Message) -> bytes:
        """A message with its signature, as bytes."""
        raw = message.encode()
        return SignedPayload(raw, self._key.sign(raw)).encode()


def verified(signed: SignedPayload, identity: Identity | None) -> bool:
    """Whether a message was signed by whom it names, whose id is the one of its key."""
    if identity is None or derive_id(identity.public_key) != identity.id:
        return False
    try:
        key = Ed25519PublicKey.from_public_bytes(identity.public_key)
        key.verify(signed.signature, signed.data)
    except (InvalidSignature, ValueError):
        return False
    return True
