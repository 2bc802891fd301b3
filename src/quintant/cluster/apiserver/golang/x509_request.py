"""x509.ParseCertificateRequest, pem.Decode: what is in the PEM of a CertificateSigningRequest.

This module imports `cryptography`: import it where such a request is at hand.
"""

from __future__ import annotations

from base64 import b64decode

from cryptography import x509
from cryptography.x509.oid import NameOID

from quintant.cluster.apiserver.golang.pem import pem_blocks
from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.golang.x509_verify import MALFORMED, load_certificate

_REQUEST, _CERTIFICATE = b"CERTIFICATE REQUEST", b"CERTIFICATE"


class BadPem(Exception):
    """A text holds no request or no certificate; it says why in the server's words."""


def parse_request(text: str) -> x509.CertificateSigningRequest:
    """The request in the first block of base64 of PEM; BadPem if there is none."""
    block = next(pem_blocks(b64decode(text)), None)
    if block is None or block.title != _REQUEST:
        raise BadPem("PEM block type must be CERTIFICATE REQUEST")
    try:
        return x509.load_der_x509_csr(block.content)
    except MALFORMED as error:
        raise BadPem(f"asn1: structure error: {error}") from None


def check_request(text: str) -> None:
    """BadPem unless a request can be read and is signed with its own key."""
    request = parse_request(text)
    try:
        signed = request.is_signature_valid
    except MALFORMED as error:
        raise BadPem(f"x509: cannot verify signature: {error}") from None
    if not signed:
        raise BadPem("x509: signature verification failed")


def organizations(request: x509.CertificateSigningRequest) -> list[str]:
    """The groups that a request is for."""
    found = request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return [str(each.value) for each in found]


def check_certificates(text: str) -> None:
    """BadPem unless base64 of PEM holds certificates and nothing else."""
    blocks = list(pem_blocks(b64decode(text)))
    for block in blocks:
        if block.title != _CERTIFICATE:
            title = block.title.decode(errors="replace")
            raise BadPem(f"only CERTIFICATE PEM blocks are allowed, found {quoted(title)}")
        if block.has_headers:
            raise BadPem("no PEM block headers are permitted")
        try:
            load_certificate(block.content)
        except MALFORMED as error:
            raise BadPem(f"x509: malformed certificate: {error}") from None
    if not blocks:
        raise BadPem("must contain at least one CERTIFICATE PEM block")
