"""user.Info: the user of a request: by certificate, by bearer token, or anonymous.

Static tokens live in a table that can change while the server runs. It holds digests, so that a
token appears neither in memory dumps of the table nor in a repr.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
CREDENTIAL = "authentication.kubernetes.io/credential-id"
"""What of a user says which credential was shown."""


class User(Struct, frozen=True):
    """Somebody who asks: a name and the groups that roles are bound to."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """More about the user, for those who want to know; it decides nothing here."""

    @property
    def account(self) -> tuple[str, str] | None:
        """Namespace and name, if the user is a service account."""
        match self.name.split(":"):
            case ["system", "serviceaccount", namespace, name]:
                return namespace, name
        return None

    @property
    def info(self) -> dict[str, Any]:
        """The user as documents tell of one."""
        fields = {
            "username": self.name,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {key: list(values) for key, values in sorted(self.extra.items())},
        }
        return {name: value for name, value in fields.items() if value}

    def among(self, group: str) -> User:
        """The same user, in one more group."""
        return self if group in self.groups else replace(self, groups=(*self.groups, group))


ANONYMOUS = User("system:anonymous", (UNAUTHENTICATED,))
SERVER = User("system:apiserver", (MASTERS,))
"""The server itself, when nobody asked."""


def service_account(namespace: str, name: str) -> User:
    """The user that a service account is."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


def admin(name: str = "admin", groups: Iterable[str] = ()) -> User:
    """A user who may do everything."""
    return User(name, (MASTERS, *groups))


class StaticTokens:
    """Which static token means which user."""

    def __init__(self) -> None:
        self._users: dict[bytes, User] = {}

    def add(self, token: str, user: User) -> None:
        """Accept a token from now on."""
        self._users[_digest(token)] = user.among(AUTHENTICATED)

    def revoke(self, token: str) -> None:
        """Accept a token no longer; a token nobody knows is revoked already."""
        self._users.pop(_digest(token), None)

    def find(self, token: str) -> User | None:
        """The user whose token this is."""
        return self._users.get(_digest(token))

    def copy(self) -> StaticTokens:
        """An independent table of the same tokens."""
        twin = StaticTokens()
        twin.accept(self)
        return twin

    def accept(self, others: StaticTokens) -> None:
        """Accept the tokens of another table, too."""
        self._users |= others._users


def bearer(headers: Mapping[str, str]) -> str:
    """The bearer token of a request; empty if it shows none, whatever else it shows."""
    match headers.get("authorization", "").strip().split(" ", 2):
        case [scheme, token, *_] if scheme.lower() == "bearer":
            return token
    return ""


def certified(certificate: Mapping[str, Any], raw: bytes) -> User | None:
    """The user a verified client certificate names: CN the user, O the groups; None without a CN.

    `certificate` is what `ssl` tells of it, `raw` the certificate itself.
    """
    parts = [part for parts in certificate.get("subject", ()) for part in parts]
    names = [value for key, value in parts if key == "commonName"]
    groups = [value for key, value in parts if key == "organizationName"]
    if not names:
        return None
    extra = {CREDENTIAL: (f"X509SHA256={sha256(raw).hexdigest()}",)}
    return User(names[-1], tuple(groups), extra=extra).among(AUTHENTICATED)


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()
