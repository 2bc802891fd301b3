from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair, check_key_pair, load_key_pair, memory_file
from quintant.runtime.webhook.authority import issue_certificate

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_memory_file_can_be_read_more_than_once_and_is_gone_afterwards() -> None:
    with memory_file(Sensitive(b"content")) as path:
        assert Path(path).read_bytes() == Path(path).read_bytes() == b"content"
        assert not os.path.realpath(path).startswith("/tmp")
    assert not Path(path).exists()


def test_a_pair_that_belongs_together_is_presented() -> None:
    pair = issue_certificate(["localhost"], NOW).pair
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_key_pair(context, pair)
    check_key_pair(pair)


def test_a_certificate_with_another_key_is_found_out() -> None:
    one, other = (
        issue_certificate(["localhost"], NOW).pair,
        issue_certificate(["localhost"], NOW).pair,
    )
    with pytest.raises(ssl.SSLError, match="KEY_VALUES_MISMATCH"):
        check_key_pair(KeyPair(one.certificate, other.key))


@pytest.mark.parametrize("certificate", [b"", b"garbage"])
def test_what_is_not_pem_is_found_out(certificate: bytes) -> None:
    with pytest.raises(ssl.SSLError):
        check_key_pair(
            KeyPair(Sensitive(certificate), issue_certificate(["localhost"], NOW).pair.key)
        )


def test_an_encrypted_key_is_refused_without_asking_for_its_password() -> None:
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )
    with pytest.raises(ssl.SSLError):
        check_key_pair(
            KeyPair(issue_certificate(["localhost"], NOW).pair.certificate, Sensitive(key))
        )


def test_a_pair_shows_no_secret() -> None:
    assert "PRIVATE" not in repr(issue_certificate(["localhost"], NOW))
