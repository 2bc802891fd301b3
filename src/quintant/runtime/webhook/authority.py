"""Certificates made on the spot: an authority that signs one serving certificate, then is no more.

The authority's key is thrown away once it has signed: no program can sign with it later, and it
need not be trusted for longer than what it signed. Like `keys.authority` this loads `cryptography`:
only who makes certificates imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ssl import SSLError

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from quintant.keys import tls
from quintant.keys.authority import BACKDATE, Authority, Validity
from quintant.keys.tls import KeyPair

LIFE = timedelta(days=90)
AUTHORITY = "quintant webhook authority"


@dataclass(frozen=True, slots=True)
class IssuedCertificate:
    """A serving certificate with its key, the authority to trust for it, and its life."""

    pair: KeyPair
    authority: bytes
    since: datetime
    until: datetime


def issue_certificate(names: Sequence[str], now: datetime) -> IssuedCertificate:
    """Make an authority and a certificate for DNS names and IP addresses."""
    # Certificates know no fractions of a second, and what is read again shall be what was made.
    term = Validity(now.replace(microsecond=0), now.replace(microsecond=0) + LIFE)
    authority = Authority.make(AUTHORITY, term)
    return IssuedCertificate(
        authority.serving(names, term), authority.certificate, term.since, term.until
    )


def read_certificate(pair: KeyPair, authority: bytes, names: Sequence[str]) -> IssuedCertificate:
    """What was issued and stored; ValueError unless it all belongs together, and to these names."""
    try:
        tls.check_key_pair(pair)
        shown = x509.load_pem_x509_certificate(pair.certificate.reveal())
        shown.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
        named = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (SSLError, InvalidSignature, TypeError, x509.ExtensionNotFound) as error:
        raise ValueError("key, certificate and authority do not belong together") from error
    if not set(names) <= {str(each.value) for each in named}:
        raise ValueError("the certificate is for another name")
    since = shown.not_valid_before_utc + BACKDATE
    return IssuedCertificate(pair, authority, since, shown.not_valid_after_utc)
