"""Who may see what.

loopback      everybody on this machine, as far as Host, Origin and site are its own
token file    who knows the token, everything
Kubernetes    whom the API server knows by a token (TokenReview), what that user may list
              (SubjectAccessReview, per kind and namespace)
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from quintant.client.rest import Rest
from quintant.client.transport import JSON, ApiRequest
from quintant.console.topics import PUBLIC, AccessScope, Allowed, Topic
from quintant.core import codec
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, QuintantError
from quintant.core.object import Model
from quintant.keys.sensitive import Sensitive

REVIEW_SECONDS = 30.0
"""How long an answer of the API server about a user is good for."""
MOST_REVIEWS = 10_000
SHORTEST_TOKEN = 16
"""Characters: fewer can be guessed."""


class KnownUser(NamedTuple):
    """A user, as the API server knows it."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""


class Viewer(Protocol):
    """Somebody who is let in."""

    epoch: int
    """Another number when something else may be seen than before."""

    @property
    def allowed(self) -> Allowed | None:
        """What may be seen; None is everything."""

    async def refresh(self, topics: Sequence[Topic]) -> bool:
        """Learn what may be seen of topics; False when the viewer is welcome no more."""


class Everybody:
    """Sees everything."""

    allowed: Allowed | None = None
    epoch = 0

    async def refresh(self, topics: Sequence[Topic]) -> bool:
        return True


class ViewerAuthenticator(Protocol):
    """Finds out who a token belongs to."""

    needs_token: bool

    async def authenticate(self, token: str) -> Viewer | None:
        """The viewer; None if the token is good for nothing."""


class LoopbackAuthenticator:
    """No password: the server itself refuses whatever comes from another site."""

    needs_token = False

    async def authenticate(self, token: str) -> Viewer | None:
        return Everybody()


class TokenViewer:
    """Sees everything, as long as the token is the one of the file."""

    allowed: Allowed | None = None
    epoch = 0

    def __init__(self, authenticator: TokenFileAuthenticator, token: Sensitive[str]) -> None:
        self._authenticator, self._token = authenticator, token
        self._due = monotonic() + REVIEW_SECONDS

    async def refresh(self, topics: Sequence[Topic]) -> bool:
        if monotonic() < self._due:
            return True
        self._due = monotonic() + REVIEW_SECONDS
        return self._authenticator.is_good(self._token.reveal())


class TokenFileAuthenticator:
    """One token for all; the file is read again every time, so that it can be changed."""

    needs_token = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read()

    async def authenticate(self, token: str) -> Viewer | None:
        return TokenViewer(self, Sensitive(token)) if self.is_good(token) else None

    def is_good(self, token: str) -> bool:
        """Whether a token is that of the file; without the file none is."""
        try:
            wanted = self._read().reveal()
        except ConfigError:
            return False
        return secrets.compare_digest(token.encode(), wanted.encode())

    def _read(self) -> Sensitive[str]:
        try:
            text = self._path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"cannot read the token of {self._path}",
                because=getattr(error, "strerror", None) or "it is no text",
                hint="a file with one line: head -c 32 /dev/urandom | base64",
            ) from error
        if len(text.strip()) < SHORTEST_TOKEN:
            raise ConfigError(
                f"the token in {self._path} is too short",
                because=f"it has fewer than {SHORTEST_TOKEN} characters and could be guessed",
                hint="head -c 32 /dev/urandom | base64",
            )
        return Sensitive(text.strip())


class _User(Model):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] | None = None


class _TokenStatus(Model):
    authenticated: bool = False
    user: _User = _User()


class _TokenReview(Model):
    status: _TokenStatus = _TokenStatus()


class _AccessStatus(Model):
    allowed: bool = False


class _AccessReview(Model):
    status: _AccessStatus = _AccessStatus()


class KubernetesAuthenticator:
    """Users of the cluster, who see what they may list."""

    needs_token = True

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._reviews: dict[tuple[KnownUser, AccessScope], tuple[float, bool]] = {}

    async def authenticate(self, token: str) -> Viewer | None:
        user = await self.find_user(token)
        return ClusterViewer(self, Sensitive(token), user) if user is not None else None

    async def find_user(self, token: str) -> KnownUser | None:
        """Whom a token belongs to, as the API server says."""
        review = {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
            "spec": {"token": token},
        }  # fmt: skip
        path = "/apis/authentication.k8s.io/v1/tokenreviews"
        try:
            status = (await self._ask(path, review, _TokenReview)).status
        except QuintantError:
            return None
        if not status.authenticated or not status.user.username:
            return None
        return KnownUser(status.user.username, status.user.groups or (), status.user.uid)

    async def may_list(self, user: KnownUser, scope: AccessScope) -> bool:
        """Whether a user may list a kind; an answer is kept for a while."""
        if scope == PUBLIC:
            return True
        for group, plural in scope.also:
            if not await self.may_list(user, AccessScope(group, plural, scope.namespace)):
                return False
        scope = scope._replace(also=())
        until, allowed = self._reviews.get((user, scope), (0.0, False))
        if monotonic() < until:
            return allowed
        if scope.namespace and await self.may_list(user, scope._replace(namespace="")):
            return True
        return await self._review(user, scope)

    async def _review(self, user: KnownUser, scope: AccessScope) -> bool:
        attributes = {
            "verb": "list", "group": scope.group, "resource": scope.plural,
            "namespace": scope.namespace,
        }  # fmt: skip
        spec = {
            "user": user.name, "groups": user.groups, "uid": user.uid,
            "resourceAttributes": attributes,
        }  # fmt: skip
        review = {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec,
        }  # fmt: skip
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        try:
            allowed = bool((await self._ask(path, review, _AccessReview)).status.allowed)
        except QuintantError:
            allowed = False  # nobody sees what nobody answers for
        if len(self._reviews) >= MOST_REVIEWS:
            self._reviews.clear()
        self._reviews[user, scope] = monotonic() + REVIEW_SECONDS, allowed
        return allowed

    async def _ask(self, path: str, review: dict[str, Any], kind: type[Any]) -> Any:
        call = ApiRequest("POST", path, {}, {"content-type": JSON}, msgspec.json.encode(review))
        return codec.decode_reply((await self._rest.send(call)).body, kind)


class ClusterViewer:
    """A user of the cluster."""

    def __init__(
        self, authenticator: KubernetesAuthenticator, token: Sensitive[str], user: KnownUser
    ) -> None:
        self._authenticator, self._token, self._user = authenticator, token, user
        self._scopes: dict[AccessScope, bool] = {}
        self._due = monotonic() + REVIEW_SECONDS
        self.epoch: int = 0

    @property
    def allowed(self) -> Allowed | None:
        return lambda scope: self._scopes.get(scope, scope == PUBLIC)

    async def refresh(self, topics: Sequence[Topic]) -> bool:
        before = self._scopes
        if monotonic() >= self._due:
            user = await self._authenticator.find_user(self._token.reveal())
            if user is None:
                return False
            self._user, self._scopes = user, {}
            self._due = monotonic() + REVIEW_SECONDS
        for topic in topics:
            for scope in topic.scopes() - self._scopes.keys():
                self._scopes[scope] = await self._authenticator.may_list(self._user, scope)
        if any(before.get(scope, may) is not may for scope, may in self._scopes.items()):
            self.epoch += 1
        return True
