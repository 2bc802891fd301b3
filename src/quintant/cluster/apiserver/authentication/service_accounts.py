"""JWTTokenAuthenticator: the claims of service account tokens, and whether they still hold.

A token lives as long as its account and the pod, secret or node it is bound to; each use asks the
store. A signature is verified once and remembered, everything else is asked every time.

    authenticate: ours? ─► signature ─► audience ─► time ─► account ─► bound object ─► User
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from quintant.cluster.apiserver.authentication import jwt
from quintant.cluster.apiserver.authorization.policy_rules import words
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.meta.user import AUTHENTICATED, CREDENTIAL, User, service_account
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.clock import Clock, parse_timestamp
from quintant.keys.sensitive import Sensitive
from quintant.wire.foreign import MalformedInput, decode_json

if TYPE_CHECKING:
    from quintant.cluster.apiserver.authentication.signer import Signer

ISSUER = "https://kubernetes.default.svc"
"""Who signs tokens, unless the server is called otherwise."""
LEEWAY = timedelta(minutes=1)
"""How far clocks may differ, and how long a token outlives the deletion mark of its object."""
REMEMBERED = 1024
"""Tokens whose signature need not be verified again."""


class TokenRejected(Exception):
    """A token that is ours, or claims to be, and does not count; the text says why."""


class ClaimRef(msgspec.Struct, frozen=True, omit_defaults=True):
    """An object by name and uid."""

    name: str = ""
    uid: str = ""


class KubernetesClaims(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a token says about Kubernetes: its account, and the object it is bound to."""

    namespace: str = ""
    node: ClaimRef | None = None
    pod: ClaimRef | None = None
    secret: ClaimRef | None = None
    serviceaccount: ClaimRef = ClaimRef()
    warnafter: int = 0


class TokenClaims(msgspec.Struct, frozen=True):
    """What a token says."""

    aud: tuple[str, ...]
    exp: int
    iat: int
    iss: str
    jti: str
    bound: KubernetesClaims = msgspec.field(name="kubernetes.io")
    nbf: int
    sub: str


class BoundMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """Who an object is, and since when it is going."""

    name: str
    uid: str
    deletion_timestamp: str = ""


class BoundPodSpec(msgspec.Struct, frozen=True, rename="camel"):
    """Of a pod: as whom and where it runs."""

    service_account_name: str = ""
    node_name: str = ""


class BoundObject(msgspec.Struct, frozen=True):
    """Of an object, what a token can be bound to."""

    metadata: BoundMetadata
    spec: BoundPodSpec = BoundPodSpec()

    @property
    def reference(self) -> ClaimRef:
        return ClaimRef(self.metadata.name, self.metadata.uid)


class _Issued(msgspec.Struct):
    iss: str = ""


class ServiceAccountTokens:
    """Signs and believes tokens of service accounts; `key` (PEM) signs them, else a new one."""

    def __init__(
        self,
        store: RevisionStore,
        clock: Clock,
        key: Sensitive[bytes] | None = None,
        issuers: tuple[str, ...] = (ISSUER,),
    ) -> None:
        self._store, self._clock, self._pem = store, clock, key
        self.issuer: str = issuers[0]
        self.audiences = issuers
        """Who signs tokens, and whom they are for unless they say otherwise: this server, by all
        the names that it has as an issuer. Tokens of any of them are its own."""
        self._verified: dict[bytes, TokenClaims] = {}

    def sign(self, claims: TokenClaims) -> str:
        """The token that makes these claims."""
        return self._signer.sign(claims)

    @property
    def algorithm(self) -> str:
        """By which tokens are signed."""
        return self._signer.algorithm

    def jwks(self) -> list[dict[str, str]]:
        """The public keys of tokens."""
        return [self._signer.jwk()]

    def authenticate(self, token: str, audiences: Collection[str] = ()) -> User | None:
        """Who shows a token; None if it is not ours at all, Rejected if it does not count.

        It has to be for one of the audiences; without any, for this server.
        """
        claims, audiences = self.claims(token), audiences or self.audiences
        if claims is None:
            return None
        if not set(claims.aud) & set(audiences):
            raise TokenRejected(
                f"token audiences {words(claims.aud)} is invalid for the target audiences "
                f"{words(audiences)}"
            )
        self._check_time(claims)
        self._check_objects(claims.bound)
        return _user(claims)

    def claims(self, token: str) -> TokenClaims | None:
        """What a token says; None if it is not ours, Rejected if somebody else signed it."""
        digest = sha256(token.encode()).digest()
        found = self._verified.get(digest) or self._verify(token)
        if found is not None:
            self._remember(digest, found)
        return found

    def find(self, plural: str, namespace: str, name: str) -> BoundObject | None:
        """Who an object of the core group is, if there is one of that name."""
        key = f"{namespace}/{name}" if namespace else name
        entry = self._store.table(plural).entries.get(key)
        return None if entry is None else stored_json.read(entry, BoundObject)

    @cached_property
    def _signer(self) -> Signer:
        from quintant.cluster.apiserver.authentication.signer import Signer
        from quintant.keys.authority import new_key, private_pem

        return Signer(self._pem or private_pem(new_key()))

    def _verify(self, token: str) -> TokenClaims | None:
        parts = jwt.parse(token)
        if parts is None or _issuer(parts.claims) not in self.audiences:
            return None
        if not self._signer.verify(parts):
            raise TokenRejected("go-jose/go-jose: error in cryptographic primitive")
        return msgspec.json.decode(parts.claims, type=TokenClaims)

    def _remember(self, digest: bytes, claims: TokenClaims) -> None:
        if len(self._verified) >= REMEMBERED and digest not in self._verified:
            del self._verified[next(iter(self._verified))]
        self._verified[digest] = claims

    def _check_time(self, claims: TokenClaims) -> None:
        now = self._clock.now().timestamp()
        if now - LEEWAY.total_seconds() > claims.exp:
            raise TokenRejected("service account token has expired")
        if now + LEEWAY.total_seconds() < claims.nbf:
            raise TokenRejected("service account token is not valid yet")

    def _check_objects(self, bound: KubernetesClaims) -> None:
        account = bound.serviceaccount
        found = self.find("serviceaccounts", bound.namespace, account.name)
        if found is None:
            raise TokenRejected(f'serviceaccounts "{account.name}" not found')
        if found.metadata.uid != account.uid:
            raise TokenRejected(
                f"service account UID ({found.metadata.uid}) does not match claim ({account.uid})"
            )
        if self._overdue(found):
            raise TokenRejected(
                f"service account {bound.namespace}/{account.name} has been deleted"
            )
        self._check_bound("secret", bound.namespace, bound.secret)
        self._check_bound("pod", bound.namespace, bound.pod)
        # With a pod, the node is only told: the pod's life counts.
        self._check_bound("node", "", None if bound.pod else bound.node)

    def _check_bound(self, kind: str, namespace: str, wanted: ClaimRef | None) -> None:
        if wanted is None:
            return
        found = self.find(f"{kind}s", namespace, wanted.name)
        if found is None or self._overdue(found):
            raise TokenRejected("service account token has been invalidated")
        if found.metadata.uid != wanted.uid:
            raise TokenRejected(
                f"{kind} UID ({found.metadata.uid}) does not match service account {kind} ref "
                f"claim ({wanted.uid})"
            )

    def _overdue(self, bound: BoundObject) -> bool:
        """Whether an object is marked as deleted, and was so long enough."""
        marked = bound.metadata.deletion_timestamp
        return bool(marked) and parse_timestamp(marked) < self._clock.now() - LEEWAY


def _issuer(claims: bytes) -> str:
    try:
        return decode_json(claims, _Issued).iss
    except MalformedInput:
        return ""


def _user(claims: TokenClaims) -> User:
    bound = claims.bound
    user = service_account(bound.namespace, bound.serviceaccount.name)
    extra = {CREDENTIAL: (f"JTI={claims.jti}",)}
    for kind, reference in (("node", bound.node), ("pod", bound.pod)):
        if reference is not None:
            named = {"name": reference.name, "uid": reference.uid}
            prefix = f"authentication.kubernetes.io/{kind}"
            extra |= {f"{prefix}-{what}": (text,) for what, text in named.items() if text}
    groups = (*user.groups, AUTHENTICATED)
    return User(user.name, groups, bound.serviceaccount.uid, extra)
