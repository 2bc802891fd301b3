"""A certificate authority for one laptop: signs what a relay serves. Imports `cryptography`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

BACKDATE = timedelta(hours=1)
"""Clocks differ."""
_NAME = "portal relay authority"
_NAME_LENGTH = 64
"""Of a common name (X.520)."""


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates; `certificate` (PEM) is what has to be trusted for them."""

    certificate: bytes
    _key: ec.EllipticCurvePrivateKey = field(repr=False)

    @classmethod
    def make(cls, now: datetime, life: timedelta) -> Authority:
        """A new authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key()
        builder = (
            _begun(_NAME, now, life, public)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        )
        return cls(_signed(builder, key), key)

    @classmethod
    def load(cls, certificate: bytes, key: bytes) -> Authority:
        """The authority that was kept; ValueError if its key is of another sort."""
        found = load_pem_private_key(key, None)
        if not isinstance(found, ec.EllipticCurvePrivateKey):
            raise ValueError("the key of the authority is no elliptic curve key")
        return cls(certificate, found)

    @property
    def key_pem(self) -> bytes:
        """Its key, to be kept."""
        return _pem(self._key)

    def sign(self, names: Sequence[str], now: datetime, life: timedelta) -> tuple[bytes, bytes]:
        """A certificate for a server under DNS names, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        served = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        builder = (
            _begun(names[0], now, life, key.public_key())
            .add_extension(served, critical=False)
            .add_extension(usage, critical=False)
            .add_extension(issuer, critical=False)
        )
        return _signed(builder, self._key), _pem(key)


def _begun(
    name: str, now: datetime, life: timedelta, public: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(_NAME))
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATE)
        .not_valid_after(now + life)
        .public_key(public)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:_NAME_LENGTH])])


def _signed(builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey) -> bytes:
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
