"""Signatures of tokens: ES256 with one key.

P-256 keys are made in microseconds, where an RSA key takes a good part of a second at start-up.
This module imports `cryptography`, which a server that never signs nor sees a token does without:
it is imported when the first one comes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from quintant.cluster.apiserver.authentication import jwt
from quintant.keys.sensitive import Sensitive

_HALF = 32
"""Bytes of each of the two numbers of a P-256 signature."""
_ECDSA = ec.ECDSA(hashes.SHA256())


class Signer:
    """Signs claims with one key, and knows its own signature."""

    def __init__(self, pem: Sensitive[bytes]) -> None:
        """ValueError if the text is no P-256 key."""
        key = load_pem_private_key(pem.reveal(), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
            raise ValueError("tokens are signed with a P-256 key")
        self._key, self._public = key, key.public_key()
        der = self._public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self._header = {"alg": "ES256", "kid": jwt.encode(sha256(der).digest())}

    def sign(self, claims: Any) -> str:
        """The token that makes these claims."""
        text = jwt.unsigned(self._header, claims)
        numbers = decode_dss_signature(self._key.sign(text.encode(), _ECDSA))
        raw = b"".join(number.to_bytes(_HALF, "big") for number in numbers)
        return f"{text}.{jwt.encode(raw)}"

    def verify(self, token: jwt.Jwt) -> bool:
        """Whether a token's signature is ours. What its header says of keys is not listened to."""
        if len(token.signature) != 2 * _HALF:
            return False
        halves = token.signature[:_HALF], token.signature[_HALF:]
        raw = encode_dss_signature(*(int.from_bytes(half, "big") for half in halves))
        try:
            self._public.verify(raw, token.signed, _ECDSA)
        except InvalidSignature:
            return False
        return True
