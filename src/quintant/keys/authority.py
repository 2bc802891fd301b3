"""A certificate authority of our own: servers and clients, with P-256 keys.

What it signs is X.509 that any TLS library verifies: key identifiers, key usages and alternative
names are there. Keys come out as PEM inside `Sensitive`. This module imports `cryptography`, 10 MB
that most processes never need: import it where certificates are made, not at a program's top.
"""

from __future__ import annotations

import ipaddress
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
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier
from msgspec import Struct

from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from quintant.keys.usages import usage_extensions

# Clocks differ: a certificate is valid from a little before it was made.
BACKDATE = timedelta(hours=1)

# Of a common name (X.520). A server is known by its alternative names, which are not cut.
COMMON_LENGTH = 64


class Validity(Struct, frozen=True):
    """How long a certificate is valid."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates; `certificate` (PEM) is what has to be trusted for them."""

    certificate: bytes
    _key: ec.EllipticCurvePrivateKey = field(repr=False)

    @classmethod
    def make(cls, name: str, validity: Validity) -> Authority:
        """A new authority with a new key."""
        key = new_key()
        builder = (
            _builder(_named(name), _named(name), validity)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs=True), critical=True)
        )
        return cls(_sign(builder, key.public_key(), key), key)

    @classmethod
    def load(cls, pair: KeyPair) -> Authority:
        """The authority that was saved as `pair`; ValueError if it is not one."""
        key = load_pem_private_key(pair.key.reveal(), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("the key of an authority is an elliptic curve key")
        return cls(pair.certificate.reveal(), key)

    @property
    def pair(self) -> KeyPair:
        """Certificate and key, to be saved."""
        return KeyPair(Sensitive(self.certificate), private_pem(self._key))

    def serving(self, names: Sequence[str], validity: Validity) -> KeyPair:
        """A certificate for a server under DNS names and IP addresses."""
        alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
        builder = self._leaf(
            _named(names[0][:COMMON_LENGTH]), validity, ExtendedKeyUsageOID.SERVER_AUTH
        )
        return self._issue(builder.add_extension(alternatives, critical=False))

    def client(self, user: str, groups: Sequence[str], validity: Validity) -> KeyPair:
        """A certificate for a client: Kubernetes takes CN for the user and O for the groups."""
        subject = _named(user, *groups)
        return self._issue(self._leaf(subject, validity, ExtendedKeyUsageOID.CLIENT_AUTH))

    def sign_request(
        self, request: x509.CertificateSigningRequest, usages: Sequence[str], validity: Validity
    ) -> bytes:
        """The certificate (PEM) that a request asks for, with its subject and its names.

        `usages` are Kubernetes' words. It ends no later than the authority's own, and starts at
        `validity.since` exactly.
        """
        own = x509.load_pem_x509_certificate(self.certificate)
        builder = (
            x509.CertificateBuilder(subject_name=request.subject, issuer_name=own.subject)
            .serial_number(x509.random_serial_number())
            .not_valid_before(validity.since)
            .not_valid_after(min(validity.until, own.not_valid_after_utc))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        )
        for extension, critical in usage_extensions(usages):
            builder = builder.add_extension(extension, critical=critical)
        try:
            names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName)
            builder = builder.add_extension(names.value, critical=names.critical)
        except x509.ExtensionNotFound:
            pass
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.public_key(request.public_key()).add_extension(issuer, critical=False)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)

    def _leaf(
        self, subject: x509.Name, validity: Validity, purpose: ObjectIdentifier
    ) -> x509.CertificateBuilder:
        own = x509.load_pem_x509_certificate(self.certificate).subject
        return (
            _builder(subject, own, validity)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        )

    def _issue(self, builder: x509.CertificateBuilder) -> KeyPair:
        key = new_key()
        return KeyPair(Sensitive(_sign(builder, key.public_key(), self._key)), private_pem(key))


def new_key() -> ec.EllipticCurvePrivateKey:
    """A new key: P-256 is made in microseconds, and every client verifies it."""
    return ec.generate_private_key(ec.SECP256R1())


def private_pem(key: ec.EllipticCurvePrivateKey) -> Sensitive[bytes]:
    """A key as PEM, without a password.

    The title of this form names the algorithm. Clients in Java go by that, and take a key of the
    form without for one of RSA.
    """
    return Sensitive(
        key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    )


def _builder(subject: x509.Name, issuer: x509.Name, validity: Validity) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.since - BACKDATE)
        .not_valid_after(validity.until)
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


def _named(common: str, *organizations: str) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common)])


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
