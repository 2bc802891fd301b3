"""x509.CertificateInvalidError, x509.HostnameError: why a server's certificate is not believed.

Apart from what verifies, so that who tells of it does without `cryptography`.
"""

from __future__ import annotations


class UntrustedCertificate(Exception):
    """A certificate proves nothing; the text says why, as Go does after `x509: `."""
