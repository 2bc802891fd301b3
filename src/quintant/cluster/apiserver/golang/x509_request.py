"""x509.ParseCertificateRequest, pem.Decode: what is in the PEM of a CertificateSigningRequest.

This module imports `cryptography`: import it where such a request is at hand.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.x509.oid import NameOID

_BLOCK = re.compile(rb"-----BEGIN ([^-\n]*)-----[ \t\r]*\n(.*?)-----END \1-----", re.DOTALL)
_HEADER = re.compile(rb"^[^\s:]+:", re.MULTILINE)
_REQUEST, _CERTIFICATE = "CERTIFICATE REQUEST", "CERTIFICATE"
_MALFORMED = (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion)


class BadPem(Exception):
    """A text holds no request or no certificate; it says why in the server's words."""


def parse_request(text: str) -> x509.CertificateSigningRequest:
    """The request in the first block of base64 of PEM; BadPem if there is none."""
    block = next(_blocks(text), None)
    if block is None or block[0] != _REQUEST:
        raise BadPem("PEM block type must be CERTIFICATE REQUEST")
    try:
        return x509.load_der_x509_csr(block[2])
    except _MALFORMED as error:
        raise BadPem(f"asn1: structure error: {error}") from None


def check_request(text: str) -> None:
    """BadPem unless a request can be read and is signed with its own key."""
    request = parse_request(text)
    try:
        signed = request.is_signature_valid
    except _MALFORMED as error:
        raise BadPem(f"x509: cannot verify signature: {error}") from None
    if not signed:
        raise BadPem("x509: signature verification failed")


def organizations(request: x509.CertificateSigningRequest) -> list[str]:
    """The groups that a request is for."""
    found = request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return [str(each.value) for each in found]


def check_certificates(text: str) -> None:
    """BadPem unless base64 of PEM holds certificates and nothing else."""
    blocks = list(_blocks(text))
    for title, headers, der in blocks:
        if title != _CERTIFICATE:
            raise BadPem(f'only CERTIFICATE PEM blocks are allowed, found "{title}"')
        if headers:
            raise BadPem("no PEM block headers are permitted")
        try:
            x509.load_der_x509_certificate(der)
        except _MALFORMED as error:
            raise BadPem(f"x509: malformed certificate: {error}") from None
    if not blocks:
        raise BadPem("must contain at least one CERTIFICATE PEM block")


def _blocks(text: str) -> Iterator[tuple[str, bool, bytes]]:
    """The title of every block, whether it has headers, and its content."""
    for found in _BLOCK.finditer(b64decode(text)):
        headers = bool(_HEADER.search(found[2]))
        content = found[2].partition(b"\n\n")[2] if headers else found[2]
        try:
            yield found[1].decode(errors="replace"), headers, b64decode(content)
        except NotBase64:
            continue
