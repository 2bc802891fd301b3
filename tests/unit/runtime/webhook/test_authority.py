from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from quintant.keys.authority import BACKDATE
from quintant.keys.tls import KeyPair
from quintant.runtime.webhook.authority import LIFE, issue_certificate, read_certificate

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_certificate_is_signed_by_the_authority_that_comes_with_it() -> None:
    issued = issue_certificate(["hooks.town.svc"], NOW)
    authority = x509.load_pem_x509_certificate(issued.authority)
    certificate = x509.load_pem_x509_certificate(issued.pair.certificate.reveal())
    certificate.verify_directly_issued_by(authority)
    authority.verify_directly_issued_by(authority)
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_a_certificate_is_for_the_given_names_and_addresses() -> None:
    issued = issue_certificate(["hooks.town.svc", "127.0.0.1", "::1"], NOW)
    certificate = x509.load_pem_x509_certificate(issued.pair.certificate.reveal())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["hooks.town.svc"]
    assert names.get_values_for_type(x509.IPAddress) == [
        ipaddress.ip_address("127.0.0.1"),
        ipaddress.ip_address("::1"),
    ]


def test_a_certificate_is_valid_from_a_little_before_to_ninety_days_after() -> None:
    issued = issue_certificate(["localhost"], NOW)
    for pem in (issued.pair.certificate.reveal(), issued.authority):
        certificate = x509.load_pem_x509_certificate(pem)
        assert certificate.not_valid_before_utc == NOW - BACKDATE
        assert certificate.not_valid_after_utc == issued.until == NOW + timedelta(days=90)
    assert timedelta(days=90) == LIFE


def test_what_was_issued_is_read_again_as_it_was() -> None:
    names = ["hooks.town.svc", "127.0.0.1", "::1"]
    issued = issue_certificate(names, NOW + timedelta(microseconds=7))
    assert read_certificate(issued.pair, issued.authority, names) == issued


def test_what_does_not_belong_together_is_not_read() -> None:
    issued, other = issue_certificate(["a"], NOW), issue_certificate(["a"], NOW)
    mixed = KeyPair(issued.pair.certificate, other.pair.key)
    for pair, authority, name in [
        (mixed, issued.authority, "a"),
        (issued.pair, other.authority, "a"),
        (issued.pair, b"nonsense", "a"),
        (issued.pair, issued.authority, "b"),
    ]:
        with pytest.raises(ValueError, match=r"belong|name|PEM"):
            read_certificate(pair, authority, [name])


def test_keys_are_on_p256_and_never_used_twice() -> None:
    first, second = issue_certificate(["localhost"], NOW), issue_certificate(["localhost"], NOW)
    assert first.pair != second.pair
    public = x509.load_pem_x509_certificate(first.authority).public_key()
    assert isinstance(public, ec.EllipticCurvePublicKey)
    assert public.curve.name == "secp256r1"
