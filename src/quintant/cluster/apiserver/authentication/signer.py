"""JWTTokenGenerator: signatures of tokens, ES256 or RS256 with one key.

P-256 keys are made in microseconds, where an RSA key takes a good part of a second at start-up: an
RSA key is one that was given to us.
This module imports `cryptography`, which a server that never signs nor sees a token does without:
it is imported when the first one comes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from msgspec import Struct

from quintant.cluster.apiserver.authentication import jwt
from quintant.keys.sensitive import Sensitive

_HALF = 32
"""Bytes of each of the two numbers of a P-256 signature."""
_ECDSA = ec.ECDSA(hashes.SHA256())


class Signer:
    """Signs claims with one key, and knows its own signature."""

    def __init__(self, pem: Sensitive[bytes]) -> None:
        """ValueError if the text is neither a P-256 nor an RSA key."""
        try:
            key = load_pem_private_key(pem.reveal(), password=None)
        except TypeError:
            raise ValueError("the key that signs tokens has a password") from None
        self._key: EcKey | RsaKey
        if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp256r1":
            self._key = EcKey(key)
        elif isinstance(key, rsa.RSAPrivateKey):
            self._key = RsaKey(key)
        else:
            raise ValueError("tokens are signed with a P-256 or an RSA key")
        form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        der = key.public_key().public_bytes(*form)
        self._header = {"alg": self._key.algorithm, "kid": jwt.encode(sha256(der).digest())}

    @property
    def algorithm(self) -> str:
        """By which it signs."""
        return self._key.algorithm

    def jwk(self) -> dict[str, str]:
        """The public key, as a JSON web key: whoever has it can verify what was signed."""
        head = {"use": "sig", "kty": self._key.kind, "kid": self._header["kid"]}
        numbers = {name: jwt.encode(raw) for name, raw in self._key.numbers().items()}
        curve = {"crv": "P-256"} if self._key.kind == EcKey.kind else {}
        return {**head, **curve, "alg": self.algorithm, **numbers}

    def sign(self, claims: Any) -> str:
        """The token that makes these claims."""
        text = jwt.unsigned(self._header, claims)
        return f"{text}.{jwt.encode(self._key.sign(text.encode()))}"

    def verify(self, token: jwt.Jwt) -> bool:
        """Whether a token's signature is ours. What its header says of keys is not listened to."""
        try:
            self._key.verify(token.signature, token.signed)
        except InvalidSignature:
            return False
        return True


class EcKey(Struct, frozen=True):
    """ES256: both numbers of a signature, one after the other."""

    key: ec.EllipticCurvePrivateKey
    algorithm = "ES256"
    kind = "EC"

    def numbers(self) -> dict[str, bytes]:
        """The public key's point."""
        point = self.key.public_key().public_numbers()
        return {"x": point.x.to_bytes(_HALF, "big"), "y": point.y.to_bytes(_HALF, "big")}

    def sign(self, text: bytes) -> bytes:
        numbers = decode_dss_signature(self.key.sign(text, _ECDSA))
        return b"".join(number.to_bytes(_HALF, "big") for number in numbers)

    def verify(self, signature: bytes, text: bytes) -> None:
        """InvalidSignature unless it is ours."""
        if len(signature) != 2 * _HALF:
            raise InvalidSignature
        halves = signature[:_HALF], signature[_HALF:]
        raw = encode_dss_signature(*(int.from_bytes(half, "big") for half in halves))
        self.key.public_key().verify(raw, text, _ECDSA)


class RsaKey(Struct, frozen=True):
    """RS256, for a key that somebody else made."""

    key: rsa.RSAPrivateKey
    algorithm = "RS256"
    kind = "RSA"

    def numbers(self) -> dict[str, bytes]:
        """The public key's modulus and exponent, without leading zeros."""
        public = self.key.public_key().public_numbers()
        return {"n": _shortest(public.n), "e": _shortest(public.e)}

    def sign(self, text: bytes) -> bytes:
        return self.key.sign(text, padding.PKCS1v15(), hashes.SHA256())

    def verify(self, signature: bytes, text: bytes) -> None:
        """InvalidSignature unless it is ours."""
        self.key.public_key().verify(signature, text, padding.PKCS1v15(), hashes.SHA256())


def _shortest(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")
