"""An authority of the relay's own, and its certificate, for laptops: files in a folder.

    ca.crt             what clients have to trust (curl --cacert); ca.key stays here
    tls.crt, tls.key   for each domain and every name below it; made anew at a start near their end

Needs `cryptography`, which is loaded only when something has to be made.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from quintant.keys.private_files import PUBLIC_MODE, write_private
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair

AUTHORITY = "portal relay authority"
AUTHORITY_LIFE = timedelta(days=3650)
LIFE = timedelta(days=365)
RENEW = timedelta(days=30)
"""Before the end of a certificate."""


def ensure(folder: Path, domains: Sequence[str], now: datetime) -> tuple[Path, Path]:
    """The files of a certificate for these domains that is good for a while."""
    certificate, key = folder / "tls.crt", folder / "tls.key"
    if not _good(certificate, key, domains, now):
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
    """A new certificate of the folder's authority, which is made if there is none."""
    from quintant.keys.authority import Authority, Validity

    files = (folder / "ca.crt", folder / "ca.key")
    if all(file.exists() for file in files):
        authority = Authority.load(KeyPair(*(Sensitive(file.read_bytes()) for file in files)))
    else:
        authority = Authority.make(AUTHORITY, Validity(now, now + AUTHORITY_LIFE))
        _keep(authority.pair, *files)
    made = authority.serving(_names(domains), Validity(now, now + LIFE))
    _keep(made, folder / "tls.crt", folder / "tls.key")


def _keep(pair: KeyPair, certificate: Path, key: Path) -> None:
    write_private(key, pair.key.reveal())
    write_private(certificate, pair.certificate.reveal(), PUBLIC_MODE)


class ServedCertificate:
    """The certificate in force: files that are read again when they change."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self._certificate, self._key = certificate, key
        self.context: Final = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.set_alpn_protocols(["http/1.1"])
        self.context.load_cert_chain(certificate, key)
        self._stamp_loaded = self._stamp()

    def reload(self) -> str:
        """Use the files if they changed; what is wrong with them, if anything is."""
        try:
            stamp = self._stamp()
            if stamp != self._stamp_loaded:
                self.context.load_cert_chain(self._certificate, self._key)
                self._stamp_loaded = stamp
        except (OSError, ssl.SSLError) as error:
            return str(error)
        return ""

    def _stamp(self) -> tuple[int, int]:
        return self._certificate.stat().st_mtime_ns, self._key.stat().st_mtime_ns


def today() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)
