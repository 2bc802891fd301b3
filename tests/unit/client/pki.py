"""Certificates for tests: an authority, servers under any names, clients, all in memory."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair, load_key_pair, memory_file

DAY = timedelta(days=1)


class Authority:
    """Signs certificates; `pem` is what to trust."""

    def __init__(self, name: str = "authority") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        basic = x509.BasicConstraints(ca=True, path_length=None)
        builder = self._builder(self._name, self._key.public_key(), DAY)
        self.pem = self._sign(builder.add_extension(basic, critical=True))

    def issue(self, user: str, names: Sequence[str] = (), life: timedelta = DAY) -> KeyPair:
        """A certificate for a user, or for a server under these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, user)])
        builder = self._builder(subject, key.public_key(), life)
        if names:
            alternatives = x509.SubjectAlternativeName([_name(name) for name in names])
            builder = builder.add_extension(alternatives, critical=False)
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return KeyPair(Sensitive(self._sign(builder)), Sensitive(secret))

    def serving(self, *names: str, life: timedelta = DAY, clients: bool = False) -> ssl.SSLContext:
        """A server's TLS set-up; with `clients` it demands a certificate of this authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        load_key_pair(context, self.issue("server", names, life))
        if clients:
            context.verify_mode = ssl.CERT_REQUIRED
            with memory_file(Sensitive(self.pem)) as path:
                context.load_verify_locations(path)
        return context

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, life: timedelta
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 10 * DAY)
            .not_valid_after(now + life)
        )

    def _sign(self, builder: x509.CertificateBuilder) -> bytes:
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
