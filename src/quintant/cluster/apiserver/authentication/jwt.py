"""JWT, the format of JSON web tokens: three texts in base64url, parted by dots.

Nothing is signed or believed here (quintant.cluster.apiserver.authentication.signer), and no claim
is understood (quintant.cluster.apiserver.authentication.service_accounts).
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import msgspec
from msgspec import Struct


class Jwt(Struct, frozen=True):
    """A token taken apart. Its claims are only claims until the signature was verified."""

    header: bytes
    claims: bytes
    signature: bytes
    signed: bytes
    """What the signature is about."""


def parse(token: str) -> Jwt | None:
    """A token's parts; None if the text is no token."""
    match token.split("."):
        case [header, claims, signature]:
            try:
                parts = (decode(header), decode(claims), decode(signature))
            except ValueError:
                return None
            return Jwt(*parts, signed=f"{header}.{claims}".encode())
    return None


def unsigned(header: Any, claims: Any) -> str:
    """The text to be signed."""
    return f"{encode(msgspec.json.encode(header))}.{encode(msgspec.json.encode(claims))}"


def encode(raw: bytes) -> str:
    """Bytes as base64url, without padding."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """The bytes of a base64url text; ValueError if it is not exactly what `encode` writes."""
    raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    # Python skips what is not base64, so that other texts would mean the same bytes.
    if encode(raw) != text:
        raise ValueError("not base64url")
    return raw
