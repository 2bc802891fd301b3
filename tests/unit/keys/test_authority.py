from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from quintant.keys.authority import Authority, Validity
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair, load_key_pair, memory_file

NOW = datetime.now(UTC)
TERM = Validity(NOW, NOW + timedelta(days=1))


def authority() -> Authority:
    return Authority.make("authority", TERM)


def parsed(pair: KeyPair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate.reveal())


def texts(certificate: x509.Certificate, what: x509.ObjectIdentifier) -> list[str | bytes]:
    return [attribute.value for attribute in certificate.subject.get_attributes_for_oid(what)]


def test_a_client_certificate_names_the_user_and_the_groups() -> None:
    certificate = parsed(authority().client("ann", ["crew", "deck"], TERM))
    assert texts(certificate, NameOID.COMMON_NAME) == ["ann"]
    assert texts(certificate, NameOID.ORGANIZATION_NAME) == ["crew", "deck"]


@pytest.mark.parametrize(
    ("make", "purpose"),
    [
        (lambda a: a.client("ann", [], TERM), ExtendedKeyUsageOID.CLIENT_AUTH),
        (lambda a: a.serving(["localhost"], TERM), ExtendedKeyUsageOID.SERVER_AUTH),
    ],
)
def test_a_certificate_serves_one_purpose(
    make: Callable[[Authority], KeyPair], purpose: x509.ObjectIdentifier
) -> None:
    extensions = parsed(make(authority())).extensions
    usage = extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [purpose]


def test_a_server_may_have_a_name_that_is_too_long_for_a_subject() -> None:
    name = f"*.{'far.' * 20}example"
    found = parsed(authority().serving([name], TERM)).extensions
    names = found.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [name]


def test_a_saved_authority_goes_on_signing() -> None:
    made = authority()
    loaded = Authority.load(made.pair)
    certificate = parsed(loaded.client("ann", [], TERM))
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(made.certificate))


def test_what_is_no_key_is_no_authority() -> None:
    with pytest.raises(ValueError, match="PEM"):
        Authority.load(KeyPair(Sensitive(b""), Sensitive(b"not a key")))


def test_a_key_appears_in_no_repr() -> None:
    made = authority()
    assert "PRIVATE" not in repr(made)
    assert "PRIVATE" not in repr(made.pair)


def test_a_server_and_a_client_of_one_authority_trust_each_other() -> None:
    made = authority()
    server, client = (ssl.SSLContext(side) for side in _SIDES)
    server.verify_mode = ssl.CERT_REQUIRED
    load_key_pair(server, made.serving(["localhost"], TERM))
    load_key_pair(client, made.client("ann", ["crew"], TERM))
    for context in (server, client):
        with memory_file(Sensitive(made.certificate)) as path:
            context.load_verify_locations(path)
    assert _met(server, client)["subject"][-1] == (("commonName", "ann"),)


_SIDES = (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT)


def _met(server: ssl.SSLContext, client: ssl.SSLContext) -> dict[str, tuple[object, ...]]:
    """What the server learns of the client in a handshake."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    left = client.wrap_bio(back, there, server_hostname="localhost")
    right = server.wrap_bio(there, back, server_side=True)
    waiting = [left, right, left, right]
    for side in waiting:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    found = right.getpeercert()
    assert found is not None
    return found  # type: ignore[return-value]


def test_a_key_says_of_which_kind_it_is() -> None:
    key = authority().client("ann", [], TERM).key.reveal()
    assert key.startswith(b"-----BEGIN EC PRIVATE KEY-----")
