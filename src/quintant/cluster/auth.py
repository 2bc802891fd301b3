"""Who is asking: bearer tokens to users, and impersonation.

Tokens live in a table that can change while the server runs. It holds digests, so that a token
appears neither in memory dumps of the table nor in a repr.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from quintant.cluster.problems import bad_request, unauthorized

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who asks: a name and the groups that roles are bound to."""

    name: str
    groups: frozenset[str] = frozenset()
    uid: str = ""

    @property
    def account(self) -> tuple[str, str] | None:
        """Namespace and name, if the user is a service account."""
        match self.name.split(":"):
            case ["system", "serviceaccount", namespace, name]:
                return namespace, name
        return None


ANONYMOUS = User("system:anonymous", frozenset({UNAUTHENTICATED}))


def service_account(namespace: str, name: str) -> User:
    """The user that a service account is."""
    groups = {"system:serviceaccounts", f"system:serviceaccounts:{namespace}"}
    return User(f"system:serviceaccount:{namespace}:{name}", frozenset(groups))


class Tokens:
    """Which token means which user."""

    def __init__(self) -> None:
        self._users: dict[bytes, User] = {}

    def add(self, token: str, user: User) -> None:
        """Accept a token from now on."""
        groups = user.groups | {AUTHENTICATED}
        self._users[_digest(token)] = User(user.name, groups, user.uid)

    def revoke(self, token: str) -> None:
        """Accept a token no longer; a token nobody knows is revoked already."""
        self._users.pop(_digest(token), None)

    def authenticate(self, headers: Mapping[str, str]) -> User:
        """The user behind a request: anonymous without credentials, 401 with wrong ones."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if not scheme:
            return ANONYMOUS
        user = self._users.get(_digest(token.strip())) if scheme.lower() == "bearer" else None
        if user is None:
            raise unauthorized()
        return user


def impersonated(headers: Mapping[str, str]) -> User | None:
    """The user a request wants to be taken for, if it does."""
    name = headers.get("impersonate-user")
    groups = asked_groups(headers)
    if not name:
        if groups:
            raise bad_request(
                f"requested groups {sorted(groups)} without impersonating a user name"
            )
        return None
    user = User(name, groups, headers.get("impersonate-uid", ""))
    account = user.account
    if account and not groups:
        user = service_account(*account)
    return User(user.name, user.groups | {AUTHENTICATED}, user.uid)


def asked_groups(headers: Mapping[str, str]) -> frozenset[str]:
    """The groups a request wants to belong to."""
    listed = headers.get("impersonate-group", "").split(",")
    return frozenset(group.strip() for group in listed if group.strip())


def admin(name: str = "admin", groups: Iterable[str] = ()) -> User:
    """A user who may do everything."""
    return User(name, frozenset({MASTERS, *groups}))


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()
