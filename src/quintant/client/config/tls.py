"""TLS between a client and an API server: whom to trust, what to show, and what went wrong.

Certificates and keys come from a kubeconfig, inline or as files; trouble with them is reported in
its words, so that the field to mend is named.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from msgspec import Struct

from quintant.core.errors import ConfigError
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair, load_key_pair

Stamp = tuple[int, int, int]


class Pem(Struct, frozen=True):
    """PEM text given inline, or in a file; `field` is what a kubeconfig calls it."""

    field: str
    data: Sensitive[bytes] | None = None
    path: Path | None = None

    def read(self) -> Sensitive[bytes]:
        """The text now; ConfigError when the file cannot be read."""
        if self.path is None:
            return self.data or Sensitive(b"")
        try:
            return Sensitive(self.path.read_bytes())
        except OSError as error:
            raise ConfigError(
                f"cannot read {self.field} {self.path}", because=str(error.strerror)
            ) from None

    def stamp(self) -> Stamp | None:
        """Changes when the file does; None for inline text, and while there is no file."""
        try:
            return file_stamp(self.path) if self.path else None
        except OSError:
            return None


class TlsConfig(Struct, frozen=True):
    """How a server is recognised: by an authority (else the system's), under a name."""

    authority: Pem | None = None
    insecure: bool = False
    server_name: str = ""


def ssl_context(trust: TlsConfig, pair: KeyPair | None = None) -> ssl.SSLContext:
    """A client's TLS set-up; ConfigError says which of the given files is of no use."""
    made = _trusting(None if trust.insecure else trust.authority)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    # Authorities that cluster installers made years ago lack extensions that the strict check of
    # Python 3.13 and later demands; Go does not ask for them.
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if trust.insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    if pair is not None:
        _show(made, pair)
    return made


def file_stamp(path: Path) -> Stamp:
    """When, where and how long a file is: two of the same stamp have the same content."""
    found = path.stat()
    return found.st_mtime_ns, found.st_ino, found.st_size


def require_key_pair(pair: KeyPair) -> None:
    """ConfigError unless certificate and key are readable and belong together."""
    _show(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), pair)


def explain_tls_error(error: ssl.SSLError, host: str) -> tuple[str, str]:
    """Why a handshake failed and what to try, for people."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _unverified(error, host)
    text = error.reason or str(error)
    if "CERTIFICATE_REQUIRED" in text or "BAD_CERTIFICATE" in text or "UNKNOWN_CA" in text:
        return (
            f"{host} does not accept the client certificate ({text})",
            "check client-certificate and client-key of the user in the kubeconfig",
        )
    if "WRONG_VERSION_NUMBER" in text or "HTTP_REQUEST" in text:
        return f"{host} does not speak TLS", "a server address that starts with http://"
    return f"the TLS handshake with {host} failed ({text})", ""


def _trusting(authority: Pem | None) -> ssl.SSLContext:
    if authority is None:
        return ssl.create_default_context()
    text = authority.read().reveal().decode("ascii", "replace")
    try:
        # OpenSSL takes no text at all to mean the system's authorities.
        return ssl.create_default_context(cadata=text or "nothing")
    except (ssl.SSLError, ValueError):
        suffix = f" {authority.path}" if authority.path else ""
        raise ConfigError(
            f"cannot use {authority.field}{suffix}", because="it holds no valid PEM certificate"
        ) from None


def _show(made: ssl.SSLContext, pair: KeyPair) -> None:
    try:
        load_key_pair(made, pair)
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            "cannot use the client certificate",
            because=getattr(error, "reason", None) or "certificate or key is not valid PEM",
            hint="an unencrypted PEM key that belongs to the certificate",
        ) from None


def _unverified(error: ssl.SSLCertVerificationError, host: str) -> tuple[str, str]:
    reason = error.verify_message
    if "ostname mismatch" in reason or "IP address mismatch" in reason:
        return (
            f"the certificate of {host} is made out to other names ({reason})",
            "tls-server-name: one of those names, in the cluster entry of the kubeconfig",
        )
    if "expired" in reason or "not yet valid" in reason:
        return f"{reason}: that of {host}", "check this machine's clock, or renew the certificate"
    return (
        f"the certificate of {host} is not signed by an authority we trust ({reason})",
        "certificate-authority-data of that cluster, in the cluster entry of the kubeconfig",
    )
