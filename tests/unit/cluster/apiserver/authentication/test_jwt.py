from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.authentication import jwt
from quintant.cluster.apiserver.authentication.signer import Signer
from quintant.keys.authority import new_key, private_pem
from quintant.keys.sensitive import Sensitive


def signer() -> Signer:
    return Signer(private_pem(new_key()))


@given(st.binary())
def test_bytes_come_back(raw: bytes) -> None:
    assert jwt.decode(jwt.encode(raw)) == raw


@pytest.mark.parametrize("text", ["a", "ab=", "a b", "+/", "é", "QUI\n", "QUJ"])
def test_only_one_text_means_some_bytes(text: str) -> None:
    with pytest.raises(ValueError, match=r"base64|padding|ASCII"):
        jwt.decode(text)


@given(st.text())
def test_any_text_is_a_token_or_none(text: str) -> None:
    assert jwt.parse(text) is None or text.count(".") == 2


def test_a_token_holds_its_claims_and_says_which_key_signed_it() -> None:
    parts = jwt.parse(signer().sign({"sub": "me"}))
    assert parts is not None
    assert parts.claims == b'{"sub":"me"}'
    assert parts.header.startswith(b'{"alg":"ES256","kid":"')


def test_a_signature_counts_for_its_key_and_its_text_only() -> None:
    own, other = signer(), signer()
    token = own.sign({"sub": "me"})
    head, claims, signature = token.split(".")
    assert own.verify(_parsed(token))
    assert not other.verify(_parsed(token))
    forged = jwt.encode(b'{"sub":"you"}')
    assert not own.verify(_parsed(f"{head}.{forged}.{signature}"))
    assert not own.verify(_parsed(f"{head}.{claims}."))
    assert not own.verify(_parsed(f"{head}.{claims}.{jwt.encode(bytes(64))}"))


def test_a_saved_key_goes_on_signing() -> None:
    pem = private_pem(new_key())
    assert Signer(pem).verify(_parsed(Signer(pem).sign({})))


def test_what_is_no_key_signs_nothing() -> None:
    with pytest.raises(ValueError, match="PEM"):
        Signer(Sensitive(b"nothing"))


def rsa_pem() -> Sensitive[bytes]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return Sensitive(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def test_an_rsa_key_that_was_given_signs_as_rs256() -> None:
    pem = rsa_pem()
    token = Signer(pem).sign({"sub": "me"})
    assert _parsed(token).header.startswith(b'{"alg":"RS256","kid":"')
    assert Signer(pem).verify(_parsed(token))
    assert not signer().verify(_parsed(token))
    assert not Signer(pem).verify(_parsed(signer().sign({"sub": "me"})))


@pytest.mark.parametrize("curve", [ec.SECP384R1(), ec.SECP521R1()], ids=["384", "521"])
def test_keys_of_other_sorts_sign_nothing(curve: ec.EllipticCurve) -> None:
    with pytest.raises(ValueError, match="P-256 or an RSA key"):
        Signer(private_pem(ec.generate_private_key(curve)))


def _parsed(token: str) -> jwt.Jwt:
    parts = jwt.parse(token)
    assert parts is not None
    return parts
