"""Servers are believed by Go's rules; tests/conformance compares them with a real server's."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.golang.x509_errors import UntrustedCertificate
from quintant.cluster.apiserver.golang.x509_verify import MOST_SIGNATURES, read_pool, verify_server
from unit.cluster.certificates import CLIENT, Issued, authority, issue, server

NOW = datetime.now(UTC)
ROOT = authority("root")
PLAIN = server(ROOT)
CHAINED = authority("chained", ROOT, permitted="example.com")


def verify(shown: list[Issued], bundle: list[Issued], name: str = "127.0.0.1") -> str:
    """Why a server is not believed; empty if it is."""
    pool = read_pool(b"".join(each.pem for each in bundle))
    try:
        verify_server([each.der for each in shown], pool, name, NOW)
    except UntrustedCertificate as refused:
        return str(refused)
    return ""


def test_every_certificate_of_a_bundle_is_an_anchor() -> None:
    own, middle = server(), authority("middle", ROOT)
    assert not verify([PLAIN], [ROOT])
    assert not verify([PLAIN], [PLAIN])
    assert not verify([own], [own])
    assert not verify([server(middle)], [middle])
    assert not verify([server(middle), middle], [ROOT])


def test_nobody_vouches_for_a_stranger() -> None:
    assert verify([PLAIN], [authority("other")]) == "certificate signed by unknown authority"
    assert "ECDSA verification failure" in verify([PLAIN], [authority("root")])
    forged = issue("server", names=("127.0.0.1",))
    assert verify([forged], [PLAIN]).startswith("certificate signed by unknown authority")


def test_a_server_that_was_signed_by_a_server_is_not_believed() -> None:
    leaf = server(PLAIN)
    assert "cannot sign this kind of certificate" in verify([leaf, PLAIN], [ROOT])


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("a.b.svc", "a.b.svc", True),
        ("A.b.SVC", "a.B.svc", True),
        ("a.b.svc", "a.b.svc.", True),
        ("*.b.svc", "a.b.svc", True),
        ("*.svc", "a.svc", True),
        ("*.svc", "a.b.svc", False),
        ("a*.svc", "ab.svc", False),
        ("*", "a", False),
        ("a..svc", "a..svc", True),
        ("*..svc", "a..svc", False),
        ("127.0.0.1.", "127.0.0.1", False),
    ],
)
def test_names_match_as_in_go(pattern: str, name: str, matches: bool) -> None:
    assert (not verify([server(ROOT, (pattern,))], [ROOT], name)) == matches


def test_a_chain_without_an_end_costs_no_more_than_so_many_signatures() -> None:
    loop = [authority("a", authority("a")) for _ in range(MOST_SIGNATURES)]
    assert verify([server(loop[0]), *loop], [ROOT])


def test_clocks_count_for_authorities_too() -> None:
    old = authority("old", since=NOW - timedelta(days=3), until=NOW - timedelta(days=1))
    assert verify([server(old)], [old]).startswith("certificate has expired or is not yet valid")


def test_an_authority_for_clients_vouches_for_no_server() -> None:
    private = authority("private", extended=(CLIENT,))
    assert verify([server(private)], [private]) == "certificate specifies an incompatible key usage"


def test_what_is_no_certificate_is_not_believed() -> None:
    with pytest.raises(UntrustedCertificate, match="malformed certificate"):
        verify_server([b"nonsense"], [ROOT.certificate], "a", NOW)
    with pytest.raises(UntrustedCertificate, match="malformed certificate"):
        verify_server([], [ROOT.certificate], "a", NOW)


def test_what_cannot_be_read_of_a_bundle_is_passed_over() -> None:
    broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    assert len(read_pool(broken + ROOT.pem + b"rubbish")) == 1
    assert read_pool(broken + b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n") == ()


@given(data=st.data())
def test_a_damaged_chain_is_refused_and_nothing_else_happens(data: st.DataObject) -> None:
    chain = [PLAIN.der, CHAINED.der]
    which = data.draw(st.integers(0, 1))
    damaged = bytearray(chain[which])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    chain[which] = bytes(damaged)
    with suppress(UntrustedCertificate):
        verify_server(chain, [ROOT.certificate], "127.0.0.1", NOW)


def test_an_extension_that_is_there_twice_is_refused() -> None:
    name, constraints = b"\x06\x03\x55\x1d\x25", b"\x06\x03\x55\x1d\x11"
    twice = PLAIN.der.replace(name, constraints)
    assert twice != PLAIN.der
    with pytest.raises(UntrustedCertificate, match="malformed certificate"):
        verify_server([twice], [ROOT.certificate], "127.0.0.1", NOW)
