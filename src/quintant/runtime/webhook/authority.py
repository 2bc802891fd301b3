"""Certificates made on the spot: an authority that signs one serving certificate, then is no more.

The authority's key is thrown away once it has signed: nobody can sign with it later, and it need
not be trusted for longer than what it signed. This module imports `cryptography`, 10 MB that most
processes never need: only `selfsigned` imports it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from quintant.runtime.hidden import Hidden
from quintant.runtime.tls import KeyPair

LIFE = timedelta(days=90)
# Clocks differ: a certificate is valid from a little before it was made.
BACKDATE = timedelta(hours=1)
AUTHORITY = "quintant webhook authority"


@dataclass(frozen=True, slots=True)
class Issued:
    """A serving certificate with its key, the authority to trust for it, and its life."""

    pair: KeyPair
    authority: bytes
    since: datetime
    until: datetime


def issue(names: Sequence[str], now: datetime) -> Issued:
    """Make an authority and a certificate for DNS names and IP addresses, with P-256 keys."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    until = now + LIFE
    authority = _sign(_authority(now, until), authority_key.public_key(), authority_key)
    certificate = _sign(_serving(names, now, until), key.public_key(), authority_key)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    pair = KeyPair(Hidden(certificate), Hidden(secret))
    return Issued(pair, authority, now, until)


def _authority(now: datetime, until: datetime) -> x509.CertificateBuilder:
    return (
        _builder(AUTHORITY, now, until)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
    )


def _serving(names: Sequence[str], now: datetime, until: datetime) -> x509.CertificateBuilder:
    alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
    return (
        _builder(names[0], now, until)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(alternatives, critical=False)
    )


def _builder(subject: str, now: datetime, until: datetime) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(AUTHORITY))
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATE)
        .not_valid_after(until)
    )


def _sign(
    builder: x509.CertificateBuilder,
    owner: ec.EllipticCurvePublicKey,
    by: ec.EllipticCurvePrivateKey,
) -> bytes:
    """The certificate as PEM, with the key identifiers by which verifiers find its issuer."""
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key())
    return (
        builder.public_key(owner)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(owner), critical=False)
        .add_extension(issuer, critical=False)
        .sign(by, hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs, key_cert_sign=signs, crl_sign=signs,
        content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
