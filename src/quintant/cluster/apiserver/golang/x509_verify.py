"""x509.Certificate.Verify, VerifyOptions: whether authorities vouch for a server, as in Go.

Every certificate of a bundle is an anchor, be it an authority or the server's own certificate; key
usages of a server do not matter, extended ones do, all the way up; clocks count for authorities,
too. OpenSSL has other rules. What is refused is so in Go's words. This module imports
`cryptography`: import it where a certificate is at hand.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.utils import CryptographyDeprecationWarning
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID

from quintant.cluster.apiserver.golang.pem import pem_blocks
from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.golang.x509_errors import UntrustedCertificate
from quintant.cluster.apiserver.golang.x509_names import (
    common_name,
    extension,
    verify_constraints,
    verify_hostname,
)

MOST_SIGNATURES = 100
"""Signatures that are looked at for one server: a made-up chain costs no more."""
MALFORMED = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
"""What `cryptography` raises where a certificate is read: most of it only when it is looked at."""
_WEAK = (hashes.SHA1, hashes.MD5)
_KNOWN = frozenset(
    {
        ExtensionOID.KEY_USAGE,
        ExtensionOID.BASIC_CONSTRAINTS,
        ExtensionOID.SUBJECT_ALTERNATIVE_NAME,
        ExtensionOID.NAME_CONSTRAINTS,
        ExtensionOID.EXTENDED_KEY_USAGE,
        ExtensionOID.CRL_DISTRIBUTION_POINTS,
        ExtensionOID.CERTIFICATE_POLICIES,
    }
)
_SERVER = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE)
_UNKNOWN = "certificate signed by unknown authority"
_MAY_NOT_SIGN = "x509: invalid signature: parent certificate cannot sign this kind of certificate"


def read_pool(bundle: bytes) -> tuple[x509.Certificate, ...]:
    """The certificates of a bundle; what cannot be read is passed over, and so may be all of it."""
    return tuple(_certificates(bundle))


def _certificates(bundle: bytes) -> Iterator[x509.Certificate]:
    for block in pem_blocks(bundle):
        try:
            if block.title == b"CERTIFICATE" and not block.has_headers:
                yield load_certificate(block.content)
        except MALFORMED:
            continue


def load_certificate(der: bytes) -> x509.Certificate:
    """A certificate of a stranger, who may make us raise something, but not print anything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)
        return x509.load_der_x509_certificate(der)


def verify_server(
    presented: Sequence[bytes], roots: Sequence[x509.Certificate], name: str, now: datetime
) -> None:
    """UntrustedCertificate unless the chain that a server shows (DER) proves its name."""
    try:
        leaf, *others = map(load_certificate, presented)
        _check_valid(leaf, (), now)
        verify_hostname(leaf, name)
        chains = [(leaf,)] if leaf in roots else _Chains(roots, others, now).build((leaf,))
        _check_chains(chains)
    except MALFORMED as error:
        raise UntrustedCertificate(f"malformed certificate: {error}") from None


Chain = tuple[x509.Certificate, ...]


class _Chains:
    """Looks for ways from a server's certificate up to an anchor."""

    def __init__(
        self, roots: Sequence[x509.Certificate], others: Sequence[x509.Certificate], now: datetime
    ) -> None:
        self._roots, self._others, self._now = roots, others, now
        self._left = MOST_SIGNATURES

    def build(self, chain: Chain) -> list[Chain]:
        """Every way up; UntrustedCertificate if there is none."""
        found: list[Chain] = []
        failure: UntrustedCertificate | None = None
        hint = ""
        for candidate, anchor in self._candidates(chain):
            try:
                self._check_issuer(chain, candidate, anchor=anchor)
                more = (*chain, candidate)
                found += [more] if anchor else self.build(more)
                failure = None
            except _NotTheIssuer as refused:
                hint = hint or _hint(str(refused), candidate)
            except UntrustedCertificate as refused:
                failure = refused
        if not found:
            raise failure or UntrustedCertificate(f"{_UNKNOWN}{hint}")
        return found

    def _candidates(self, chain: Chain) -> Iterator[tuple[x509.Certificate, bool]]:
        issuer = chain[-1].issuer
        pools = ((self._roots, True), (self._others, False))
        for pool, anchor in pools:
            for candidate in pool:
                if candidate.subject == issuer and candidate not in chain:
                    yield candidate, anchor

    def _check_issuer(self, chain: Chain, candidate: x509.Certificate, *, anchor: bool) -> None:
        self._left -= 1
        if self._left < 0:
            raise UntrustedCertificate("signature check attempts limit reached")
        _check_signature(chain[-1], candidate)
        _check_valid(candidate, chain, self._now)
        if not anchor and extension(candidate, x509.BasicConstraints) is None:
            raise UntrustedCertificate("certificate is not authorized to sign other certificates")


class _NotTheIssuer(Exception):
    """Why a candidate did not sign a certificate."""


def _hint(why: str, candidate: x509.Certificate) -> str:
    organizations = candidate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    name = common_name(candidate) or next(
        (str(each.value) for each in organizations), f"serial:{candidate.serial_number}"
    )
    tried = f"while trying to verify candidate authority certificate {quoted(name)}"
    return f" (possibly because of {quoted(why)} {tried})"


def _check_signature(child: x509.Certificate, parent: x509.Certificate) -> None:
    limits, usage = extension(parent, x509.BasicConstraints), extension(parent, x509.KeyUsage)
    may_sign = parent.version is x509.Version.v1 if limits is None else limits.ca
    if not may_sign or (usage is not None and not usage.key_cert_sign):
        raise _NotTheIssuer(_MAY_NOT_SIGN)
    if isinstance(child.signature_hash_algorithm, _WEAK):
        raise _NotTheIssuer(f"x509: cannot verify signature: insecure algorithm {_weak(child)}")
    try:
        child.verify_directly_issued_by(parent)
    except (InvalidSignature, TypeError, ValueError):
        raise _NotTheIssuer(_mismatch(parent)) from None


def _weak(child: x509.Certificate) -> str:
    algorithm = child.signature_hash_algorithm
    name = "" if algorithm is None else algorithm.name.upper()
    elliptic = isinstance(child.signature_algorithm_parameters, ec.ECDSA)
    return f"ECDSA-{name}" if elliptic else f"{name}-RSA"


def _mismatch(parent: x509.Certificate) -> str:
    match parent.public_key():
        case ec.EllipticCurvePublicKey():
            return "x509: ECDSA verification failure"
        case ed25519.Ed25519PublicKey():
            return "x509: Ed25519 verification failure"
    return "crypto/rsa: verification error"


def _check_valid(certificate: x509.Certificate, below: Chain, now: datetime) -> None:
    """What is asked of every certificate of a chain, wherever it stands."""
    if any(each.critical and each.oid not in _KNOWN for each in certificate.extensions):
        raise UntrustedCertificate("unhandled critical extension")
    since, until = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if not since <= now <= until:
        bound = f"before {_time(since)}" if now < since else f"after {_time(until)}"
        why = f"current time {_time(now)} is {bound}"
        raise UntrustedCertificate(f"certificate has expired or is not yet valid: {why}")
    limits = extension(certificate, x509.BasicConstraints)
    longest = None if limits is None else limits.path_length
    if longest is not None and len(below) - 1 > longest:
        raise UntrustedCertificate("too many intermediates for path length constraint")


def _check_chains(chains: Sequence[Chain]) -> None:
    """One of them has to be for servers, under authorities that may sign for its names."""
    fitting = [chain for chain in chains if all(map(_serves, chain))]
    if not fitting:
        raise UntrustedCertificate("certificate specifies an incompatible key usage")
    refusals: list[UntrustedCertificate] = []
    for leaf, *above in fitting:
        try:
            return verify_constraints(leaf, above)
        except UntrustedCertificate as refused:
            refusals.append(refused)
    raise refusals[0]


def _serves(certificate: x509.Certificate) -> bool:
    usages = extension(certificate, x509.ExtendedKeyUsage)
    return usages is None or any(usage in _SERVER for usage in usages)


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
