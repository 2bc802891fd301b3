"""OpenIDMetadata: what others need to verify tokens of service accounts themselves.

Clouds and vaults read two documents: who issues tokens, and by which keys. The keys are under the
issuer's own name: a server in a process does not know by which address it is reached.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.body import JSON
from quintant.cluster.apiserver.meta.status import method_not_supported, not_acceptable
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.negotiate import clauses

CONFIGURATION = "/.well-known/openid-configuration"
JWKS = "/openid/v1/jwks"
_PUBLIC = {"cache-control": "public, max-age=3600"}


class TokenIssuer(Protocol):
    """Who signs tokens."""

    @property
    def issuer(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    def jwks(self) -> list[dict[str, str]]:
        """The public keys."""


def openid_document(call: ApiRequest, tokens: TokenIssuer) -> ApiResponse | None:
    """The answer to a request for one of the documents; None for another path."""
    if call.path not in (CONFIGURATION, JWKS):
        return None
    if call.method != "GET":
        raise method_not_supported()
    if call.path == JWKS:
        return _answer(call, {"keys": tokens.jwks()}, "application/jwk-set+json")
    return _answer(call, _configuration(tokens), JSON)


def _configuration(tokens: TokenIssuer) -> JsonObject:
    return {
        "issuer": tokens.issuer,
        "jwks_uri": f"{tokens.issuer.rstrip('/')}{JWKS}",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [tokens.algorithm],
    }


def _answer(call: ApiRequest, document: JsonObject, content_type: str) -> ApiResponse:
    accept = call.headers.get("accept", "")
    if accept and not any(clause.covers(content_type) for clause in clauses(accept)):
        raise not_acceptable((content_type,))
    headers = {"content-type": content_type, **_PUBLIC}
    return ApiResponse(200, msgspec.json.encode(document), headers)
