"""Certificates of every sort, good and bad, for who has to verify them."""

from __future__ import annotations

import ipaddress
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair

SERVER, CLIENT = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH
ANY = ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE
SIGNS, SERVES = "key_cert_sign", "digital_signature"
_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
    *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)
_NOW = datetime.now(UTC)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Issued:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    def serving(self, *above: Issued) -> KeyPair:
        """What a server shows: its own certificate, and others of the chain."""
        form = (Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        chain = b"".join(each.pem for each in (self, *above))
        return KeyPair(Sensitive(chain), Sensitive(self.key.private_bytes(*form)))


def issue(
    common: str,
    by: Issued | None = None,
    *,
    names: Sequence[str] = (),
    ca: bool | None = None,
    longest: int | None = None,
    usages: Sequence[str] = (),
    extended: Sequence[ObjectIdentifier] = (),
    since: datetime = _NOW - _DAY,
    until: datetime = _NOW + _DAY,
    organization: str = "",
    permitted: str = "",
    excluded: str = "",
) -> Issued:
    """A certificate of somebody, or of its own; what is not given, it does not say."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _name(common, organization)
    issuer = by.certificate.subject if by else subject
    builder = x509.CertificateBuilder(
        issuer, subject, key.public_key(), x509.random_serial_number(), since, until
    )
    if ca is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca, longest), critical=True)
    if usages:
        usage = x509.KeyUsage(**{each: each in usages for each in _USAGES})
        builder = builder.add_extension(usage, critical=True)
    if extended:
        builder = builder.add_extension(x509.ExtendedKeyUsage(extended), critical=False)
    if names:
        alternatives = x509.SubjectAlternativeName(list(map(_alternative, names)))
        builder = builder.add_extension(alternatives, critical=False)
    if permitted or excluded:
        limits = x509.NameConstraints(_tree(permitted), _tree(excluded))
        builder = builder.add_extension(limits, critical=True)
    return Issued(builder.sign(by.key if by else key, hashes.SHA256()), key)


def authority(common: str = "authority", by: Issued | None = None, **more: object) -> Issued:
    """One that may sign."""
    fields = {"ca": True, "usages": (SIGNS,), **more}
    return issue(common, by, **fields)  # type: ignore[arg-type]


def server(
    by: Issued | None = None, names: Sequence[str] = ("127.0.0.1",), **more: object
) -> Issued:
    """That of a server on loopback."""
    fields = {"extended": (SERVER,), "names": names, **more}
    return issue("server", by, **fields)  # type: ignore[arg-type]


def _name(common: str, organization: str) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _tree(domain: str) -> list[x509.GeneralName] | None:
    return [x509.DNSName(domain)] if domain else None


def certificate_request(common: str, *groups: str) -> str:
    """A signed request for a client's certificate, as base64 of PEM."""
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    name = x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, common)])
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    return b64encode(request.public_bytes(Encoding.PEM)).decode()
