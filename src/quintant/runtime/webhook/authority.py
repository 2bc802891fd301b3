"""Certificates made on the spot: an authority that signs one serving certificate, then is no more.

The authority's key is thrown away once it has signed: nobody can sign with it later, and it need
not be trusted for longer than what it signed. Like `keys.authority` this loads `cryptography`:
only `selfsigned` imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from quintant.keys.authority import Authority, Term
from quintant.keys.tls import KeyPair

LIFE = timedelta(days=90)
AUTHORITY = "quintant webhook authority"


@dataclass(frozen=True, slots=True)
class Issued:
    """A serving certificate with its key, the authority to trust for it, and its life."""

    pair: KeyPair
    authority: bytes
    since: datetime
    until: datetime


def issue(names: Sequence[str], now: datetime) -> Issued:
    """Make an authority and a certificate for DNS names and IP addresses."""
    term = Term(now, now + LIFE)
    authority = Authority.make(AUTHORITY, term)
    return Issued(authority.serving(names, term), authority.certificate, term.since, term.until)
