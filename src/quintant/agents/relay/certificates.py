"""An authority of the relay's own, and its certificate, for laptops: files in a folder.

    ca.crt             what clients have to trust (curl --cacert); ca.key stays here
    tls.crt, tls.key   for each domain and every name below it; made anew at a start near their end

Needs `cryptography`, which is loaded only when something has to be made.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

AUTHORITY_LIFE = timedelta(days=3650)
LIFE = timedelta(days=365)
RENEW = timedelta(days=30)
"""Before the end of a certificate."""
BACKDATE = timedelta(hours=1)
"""Clocks differ."""


def ensure(folder: Path, domains: Sequence[str], now: datetime) -> tuple[Path, Path]:
    """The files of a certificate for these domains that is good for a while."""
    certificate, key = folder / "tls.crt", folder / "tls.key"
    if not _good(certificate, key, domains, now):
        folder.mkdir(parents=True, exist_ok=True)
        _make(folder, domains, now)
    return certificate, key


def _good(certificate: Path, key: Path, domains: Sequence[str], now: datetime) -> bool:
    if not (certificate.exists() and key.exists() and (certificate.parent / "ca.crt").exists()):
        return False
    from cryptography import x509

    found = x509.load_pem_x509_certificate(certificate.read_bytes())
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    known = names.get_values_for_type(x509.DNSName)
    return set(_names(domains)) <= set(known) and now < found.not_valid_after_utc - RENEW


def _names(domains: Sequence[str]) -> list[str]:
    return [name for domain in domains for name in (domain, f"*.{domain}")]


def _make(folder: Path, domains: Sequence[str], now: datetime) -> None:
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

    def named(name: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])

    def begun(subject: x509.Name, issuer: x509.Name, life: timedelta) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - BACKDATE)
            .not_valid_after(now + life)
        )

    def private(key: ec.EllipticCurvePrivateKey) -> bytes:
        return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    authority = named("portal relay authority")
    if (folder / "ca.key").exists() and (folder / "ca.crt").exists():
        signer = load_pem_private_key((folder / "ca.key").read_bytes(), None)
        assert isinstance(signer, ec.EllipticCurvePrivateKey)
    else:
        signer = ec.generate_private_key(ec.SECP256R1())
        root = begun(authority, authority, AUTHORITY_LIFE).public_key(signer.public_key())
        root = root.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        identifier = x509.SubjectKeyIdentifier.from_public_key(signer.public_key())
        root = root.add_extension(identifier, critical=False)
        _write(folder / "ca.key", private(signer), 0o600)
        signed = root.sign(signer, hashes.SHA256()).public_bytes(Encoding.PEM)
        _write(folder / "ca.crt", signed, 0o644)
    key = ec.generate_private_key(ec.SECP256R1())
    names = x509.SubjectAlternativeName([x509.DNSName(each) for each in _names(domains)])
    leaf = begun(named(domains[0]), authority, LIFE).public_key(key.public_key())
    leaf = leaf.add_extension(names, critical=False)
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    leaf = leaf.add_extension(usage, critical=False)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    leaf = leaf.add_extension(issuer, critical=False)
    _write(folder / "tls.key", private(key), 0o600)
    signed = leaf.sign(signer, hashes.SHA256()).public_bytes(Encoding.PEM)
    _write(folder / "tls.crt", signed, 0o644)


def _write(path: Path, raw: bytes, mode: int) -> None:
    """Write a file that is never seen half, nor by others before its mode is set."""
    beside = path.with_suffix(path.suffix + ".new")
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(raw)
    beside.replace(path)


class Served:
    """The certificate in force: files that are read again when they change."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self._certificate, self._key = certificate, key
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.set_alpn_protocols(["http/1.1"])
        self.context.load_cert_chain(certificate, key)
        self._seen = self._stamp()

    def reload(self) -> str:
        """Use the files if they changed; what is wrong with them, if anything is."""
        try:
            stamp = self._stamp()
            if stamp != self._seen:
                self.context.load_cert_chain(self._certificate, self._key)
                self._seen = stamp
        except (OSError, ssl.SSLError) as error:
            return str(error)
        return ""

    def _stamp(self) -> tuple[int, int]:
        return self._certificate.stat().st_mtime_ns, self._key.stat().st_mtime_ns


def today() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)
