"""Tokens of service accounts can be verified by others: who issues them, and by which keys."""

from __future__ import annotations

from typing import Any

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from conformance.secured_server import As, SecuredServer
from quintant.cluster.apiserver.authentication import jwt

CONFIGURATION = "/.well-known/openid-configuration"
JWKS = "/openid/v1/jwks"
NOT_ACCEPTABLE = "406: Not Acceptable\n\nAvailable representations: application/jwk-set+json"


async def token_of(secured: SecuredServer) -> jwt.Jwt:
    """A token of the account `default`, taken apart."""
    path = f"/api/v1/namespaces/{secured.namespace}/serviceaccounts"
    await secured.ask("POST", path, {"metadata": {"name": "reader"}}, 201)
    review = await secured.ask("POST", f"{path}/reader/token", {"spec": {}}, 201)
    parsed = jwt.parse(review["status"]["token"])
    assert parsed is not None
    return parsed


def verify(key: dict[str, str], token: jwt.Jwt) -> None:
    """InvalidSignature unless a token was signed with a published key."""
    numbers = {name: int.from_bytes(jwt.decode(key[name]), "big") for name in key if len(name) == 1}
    if key["kty"] == "RSA":
        public = rsa.RSAPublicNumbers(numbers["e"], numbers["n"]).public_key()
        public.verify(token.signature, token.signed, padding.PKCS1v15(), hashes.SHA256())
        return
    assert key["crv"] == "P-256"
    half = len(token.signature) // 2
    halves = token.signature[:half], token.signature[half:]
    raw = encode_dss_signature(*(int.from_bytes(each, "big") for each in halves))
    point = ec.EllipticCurvePublicNumbers(numbers["x"], numbers["y"], ec.SECP256R1())
    point.public_key().verify(raw, token.signed, ec.ECDSA(hashes.SHA256()))


async def document(secured: SecuredServer, path: str, content_type: str) -> Any:
    reply = await secured.send("GET", path, headers={"accept": content_type})
    assert (reply.status, reply.headers["content-type"]) == (200, content_type)
    assert reply.headers["cache-control"] == "public, max-age=3600"
    return msgspec.json.decode(reply.body)


async def test_a_token_is_verified_by_the_keys_that_its_issuer_publishes(
    secured: SecuredServer,
) -> None:
    configuration = await document(secured, CONFIGURATION, "application/json")
    (key,) = (await document(secured, JWKS, "application/jwk-set+json"))["keys"]
    token = await token_of(secured)
    header, claims = msgspec.json.decode(token.header), msgspec.json.decode(token.claims)
    assert claims["iss"] == configuration["issuer"]
    assert (header["kid"], header["alg"]) == (key["kid"], key["alg"])
    assert key["use"] == "sig"
    verify(key, token)


async def test_the_issuer_says_how_its_tokens_are_made(secured: SecuredServer) -> None:
    configuration = await document(secured, CONFIGURATION, "application/json")
    assert set(configuration) == {
        "issuer", "jwks_uri", "response_types_supported", "subject_types_supported",
        "id_token_signing_alg_values_supported",
    }  # fmt: skip
    assert configuration["jwks_uri"].startswith("https://")
    assert configuration["jwks_uri"].endswith(JWKS)
    assert configuration["response_types_supported"] == ["id_token"]
    assert configuration["subject_types_supported"] == ["public"]


async def test_service_accounts_may_read_it_and_others_may_not(secured: SecuredServer) -> None:
    account = As(secured, f"system:serviceaccount:{secured.namespace}:reader")
    groups = {"impersonate-group": "system:serviceaccounts"}
    for path in (CONFIGURATION, JWKS):
        assert await account.code("GET", path, headers={**groups, "accept": "*/*"}) == 200
        assert await As(secured, "alice").code("GET", path) == 403
        assert (await secured.send("POST", path, {})).status == 405


async def test_the_keys_have_a_media_type_of_their_own(secured: SecuredServer) -> None:
    reply = await secured.send("GET", JWKS, headers={"accept": "application/json"})
    assert reply.status == 406
    assert msgspec.json.decode(reply.body)["message"] == NOT_ACCEPTABLE
