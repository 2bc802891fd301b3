"""pkg/kubeapiserver/authenticator: a client certificate, else a bearer token, else anonymous.

A certificate that names a user comes first. A token that is shown must be good: a bad one is 401
even where anybody may go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from quintant.cluster.apiserver.authentication.service_accounts import (
    ServiceAccountTokens,
    TokenRejected,
)
from quintant.cluster.apiserver.meta.status import unauthorized
from quintant.cluster.apiserver.meta.user import ANONYMOUS, StaticTokens, User, bearer

BAD = "invalid bearer token"


class Authenticator:
    """Tells who is asking."""

    def __init__(self, tokens: StaticTokens, accounts: ServiceAccountTokens) -> None:
        self._tokens, self._accounts = tokens, accounts

    def authenticate(self, headers: Mapping[str, str], peer: User | None) -> User:
        """The user behind a request; `peer` is whom the connection itself proves."""
        if peer is not None:
            return peer
        token = bearer(headers)
        if not token:
            return ANONYMOUS
        try:
            user, _ = self.review(token)
        except TokenRejected:
            raise unauthorized() from None
        return user

    def review(self, token: str, audiences: Collection[str] = ()) -> tuple[User, tuple[str, ...]]:
        """Whose token it is, and for which of the audiences; Rejected if it does not count.

        Without any audiences it is to be for this server.
        """
        own, audiences = self._tokens.find(token), audiences or self._accounts.audiences
        if own is not None:
            meant = tuple(each for each in audiences if each in self._accounts.audiences)
            if not meant:
                raise TokenRejected(BAD)
            return own, meant
        try:
            user = self._accounts.authenticate(token, audiences)
        except TokenRejected as rejected:
            raise TokenRejected(f"[{BAD}, {rejected}]") from None
        claims = self._accounts.claims(token)
        if user is None or claims is None:
            raise TokenRejected(BAD)
        return user, tuple(each for each in audiences if each in claims.aud)
