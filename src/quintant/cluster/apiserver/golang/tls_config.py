"""tls.Config, x509.CertPool: the client's side of TLS, where Go's rules say who is believed.

OpenSSL proves that a server has the key of the certificate it shows; whether that certificate is
believed is decided afterwards, by Go's rules (`golang.x509_verify`), before anything is sent.
Without a bundle the machine's authorities count, for OpenSSL.
"""

from __future__ import annotations

import ssl
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from quintant.cluster.apiserver.golang.pem import pem_blocks

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

BUNDLES = 64
"""Sets of authorities kept ready: more than there are servers that a cluster calls."""
_UNREADABLE = "unable to load root certificates"
NO_BUNDLE = f"{_UNREADABLE}: unable to parse bytes as PEM block"

# How a certificate is asked for in its binary form, of Python's own wrapper of OpenSSL.
_DER = 2


@lru_cache(BUNDLES)
def certificate_pool(bundle: bytes) -> tuple[Certificate, ...]:
    """The certificates of a bundle (PEM), each of them an anchor."""
    from quintant.cluster.apiserver.golang.x509_verify import read_pool

    return read_pool(bundle)


def bundle_error(bundle: bytes) -> str:
    """What Go says of a bundle without any certificate; nothing if there is no bundle at all."""
    if not bundle or certificate_pool(bundle):
        return ""
    titles = [block.title for block in pem_blocks(bundle) if not block.has_headers]
    if b"CERTIFICATE" in titles:
        return f"{_UNREADABLE}: failed to parse certificate: x509: malformed certificate"
    return f"{_UNREADABLE}: no valid certificate authority data seen" if titles else NO_BUNDLE


def unverified_context() -> ssl.SSLContext:
    """What believes every certificate: whoever uses it verifies it, or was told not to."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def machine_context() -> ssl.SSLContext:
    """The machine's authorities, as near to Go's rules as OpenSSL comes."""
    context = ssl.create_default_context()
    context.hostname_checks_common_name = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def verify_presented(connection: Any, bundle: bytes, name: str, now: datetime) -> None:
    """UntrustedCertificate unless a bundle vouches for what was shown on a connection (ssl)."""
    from quintant.cluster.apiserver.golang.x509_verify import verify_server

    verify_server(_presented(connection), certificate_pool(bundle), name, now)


def _presented(connection: Any) -> list[bytes]:
    """The certificates that a server shows, its own first (DER)."""
    if hasattr(connection, "get_unverified_chain"):  # from Python 3.13 on
        return list(connection.get_unverified_chain())
    return [each.public_bytes(_DER) for each in connection._sslobj.get_unverified_chain() or ()]
