"""Promises of quintant.client.config.tls."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from quintant.client.config.tls import (
    Pem,
    TlsConfig,
    explain_tls_error,
    require_key_pair,
    ssl_context,
)
from quintant.core.errors import ConfigError
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from unit.client.pki import Authority

AUTHORITY = Authority()


def test_given_authority_is_the_only_one_trusted() -> None:
    made = ssl_context(TlsConfig(Pem("ca", Sensitive(AUTHORITY.pem))))
    assert len(made.get_ca_certs()) == 1
    assert (made.check_hostname, made.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert not made.verify_flags & ssl.VERIFY_X509_STRICT


def test_without_authority_the_systems_are_trusted() -> None:
    assert ssl_context(TlsConfig()).verify_mode == ssl.CERT_REQUIRED


def test_insecure_checks_nothing() -> None:
    made = ssl_context(TlsConfig(Pem("ca", Sensitive(b"no PEM")), insecure=True))
    assert (made.check_hostname, made.verify_mode) == (False, ssl.CERT_NONE)


def test_authority_without_certificate_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text("hello")
    with pytest.raises(ConfigError, match=f"cannot use certificate-authority {path}"):
        ssl_context(TlsConfig(Pem("certificate-authority", path=path)))
    with pytest.raises(ConfigError, match="cannot use ca-data"):
        ssl_context(TlsConfig(Pem("ca-data", Sensitive(b"hello"))))
    with pytest.raises(ConfigError, match="cannot use ca-data"):
        ssl_context(TlsConfig(Pem("ca-data", Sensitive(b""))))
    broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    with pytest.raises(ConfigError, match="cannot use ca-data"):
        ssl_context(TlsConfig(Pem("ca-data", Sensitive(broken))))


def test_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read certificate-authority .*gone"):
        ssl_context(TlsConfig(Pem("certificate-authority", path=tmp_path / "gone")))


def test_stamp_changes_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "pem"
    pem = Pem("key", path=path)
    assert pem.stamp() is None
    path.write_text("one")
    before = pem.stamp()
    path.write_text("three")
    assert pem.stamp() != before
    assert Pem("key", Sensitive(b"inline")).stamp() is None


def test_encrypted_key_is_refused_instead_of_asking_the_terminal() -> None:
    pair = AUTHORITY.issue("jo")
    key = serialization.load_pem_private_key(pair.key.reveal(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"sesame"),
    )
    require_key_pair(pair)
    with pytest.raises(ConfigError, match="unencrypted"):
        require_key_pair(KeyPair(pair.certificate, Sensitive(locked)))


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "does not accept the client certificate"),
        ("TLSV1_ALERT_UNKNOWN_CA", "does not accept the client certificate"),
        ("WRONG_VERSION_NUMBER", "does not speak TLS"),
        ("NO_CIPHERS_AVAILABLE", "failed (NO_CIPHERS_AVAILABLE)"),
    ],
)
def test_failed_handshake_is_explained(reason: str, why: str) -> None:
    error = ssl.SSLError(1, f"[SSL: {reason}] something")
    error.reason = reason
    assert why in explain_tls_error(error, "api.test")[0]
