"""TokenREST, TokenRequest: serviceaccounts/token: a token for some time and audiences.

A token can be bound to a pod, a secret or a node, and then dies with it. One for a pod and the
usual hour and seven seconds is valid for a year and only asked to be renewed after the hour: old
programs do not read their token again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.authentication.service_accounts import (
    BoundObject,
    ClaimRef,
    KubernetesClaims,
    ServiceAccountTokens,
    TokenClaims,
)
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_object
from quintant.cluster.apiserver.meta.status import bad_request, conflict, not_found
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.clock import Clock, Random, timestamp
from quintant.core.resource import Resource

KIND = Kind(
    Resource("authentication.k8s.io", "v1", "TokenRequest", "tokenrequests", namespaced=True),
    table="",
    create_only=True,
    message=go_types.find("authentication.k8s.io/v1", "TokenRequest"),
)
DEFAULT_SECONDS = 3600
LEAST_SECONDS = 600
MOST_SECONDS = 1 << 32
PROJECTED_SECONDS = 3607
"""What a projected token asks for: an odd number, so that nobody else asks for it by chance."""
EXTENDED_SECONDS = 365 * 24 * 3600
_BINDABLE = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


class _Ref(msgspec.Struct, frozen=True, rename="camel"):
    kind: str = ""
    api_version: str = ""
    name: str = ""
    uid: str = ""


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    audiences: tuple[str, ...] | None = None
    expiration_seconds: int | None = None
    bound_object_ref: _Ref | None = None


class TokenRequests(Struct, frozen=True):
    """Answers requests for tokens."""

    accounts: ServiceAccountTokens
    clock: Clock
    random: Random

    def answer(self, target: ObjectRef, sent: JsonObject) -> JsonObject:
        """What was sent, with the token; `target` is the account."""
        account = self._account(target, sent["metadata"])
        spec = _read(sent)
        seconds = DEFAULT_SECONDS if spec.expiration_seconds is None else spec.expiration_seconds
        _check_seconds(seconds)
        bound = self._bound(target, account, spec.bound_object_ref)
        audiences, now = spec.audiences or self.accounts.audiences, self.clock.now()
        token = self.accounts.sign(self._claims(target, bound, audiences, seconds, now))
        return {
            **sent,
            "metadata": _metadata(sent["metadata"], account, target, now),
            "spec": _shown(sent, audiences, seconds),
            "status": {"token": token, "expirationTimestamp": _after(now, seconds)},
        }

    def _account(self, target: ObjectRef, document: JsonObject) -> BoundObject:
        if document.get("name", target.name) != target.name:
            text = "must match the service account name if specified"
            raise invalid_object(
                KIND.resource, target.name, invalid("metadata.name", document["name"], text)
            )
        found = self.accounts.find("serviceaccounts", target.namespace, target.name)
        if found is None:
            raise not_found(target.kind.resource, target.name)
        return found

    def _bound(self, target: ObjectRef, account: BoundObject, ref: _Ref | None) -> KubernetesClaims:
        own = KubernetesClaims(target.namespace, serviceaccount=account.reference)
        if ref is None:
            return own
        found = self._found(target, ref)
        if ref.kind == "Pod" and found.spec.service_account_name != target.name:
            raise bad_request(
                f'cannot bind token for serviceaccount "{target.name}" to pod running with '
                "different serviceaccount name."
            )
        _check_uid(ref, found)
        bound = {"node": self._node(found)} if ref.kind == "Pod" else {}
        return msgspec.structs.replace(own, **bound | {ref.kind.lower(): found.reference})

    def _found(self, target: ObjectRef, ref: _Ref) -> BoundObject:
        group, slash, _ = ref.api_version.rpartition("/")
        plural = "" if slash and group else _BINDABLE.get(ref.kind, "")
        if not plural:
            version = ref.api_version if slash else f"/{ref.api_version}"
            raise bad_request(f"cannot bind token to object of type {version}, Kind={ref.kind}")
        if not ref.name:
            raise bad_request("Name parameter required.")
        namespace = "" if ref.kind == "Node" else target.namespace
        found = self.accounts.find(plural, namespace, ref.name)
        if found is None:
            raise not_found(Resource("", "v1", ref.kind, plural), ref.name)
        return found

    def _node(self, pod: BoundObject) -> ClaimRef | None:
        """Where a pod runs; a node that is gone is still told by its name."""
        name = pod.spec.node_name
        found = self.accounts.find("nodes", "", name) if name else None
        if found is not None:
            return found.reference
        return ClaimRef(name) if name else None

    def _claims(
        self,
        target: ObjectRef,
        bound: KubernetesClaims,
        audiences: tuple[str, ...],
        seconds: int,
        now: datetime,
    ) -> TokenClaims:
        since = int(now.timestamp())
        projected = bound.pod is not None and seconds == PROJECTED_SECONDS
        if projected and set(audiences) <= set(self.accounts.audiences):
            bound = msgspec.structs.replace(bound, warnafter=since + seconds)
            seconds = EXTENDED_SECONDS
        return TokenClaims(
            aud=audiences,
            exp=since + seconds,
            iat=since,
            iss=self.accounts.issuer,
            jti=self.random.id(),
            bound=bound,
            nbf=since,
            sub=f"system:serviceaccount:{target.namespace}:{target.name}",
        )


def _read(sent: JsonObject) -> _Spec:
    try:
        return msgspec.convert(sent.get("spec") or {}, _Spec)
    except msgspec.ValidationError as error:
        raise bad_request(
            f'TokenRequest in version "v1" cannot be handled as a TokenRequest: {error}'
        ) from None


def _check_seconds(seconds: int) -> None:
    text = ""
    if seconds < LEAST_SECONDS:
        text = "may not specify a duration less than 10 minutes"
    elif seconds > MOST_SECONDS:
        text = "may not specify a duration larger than 2^32 seconds"
    if text:
        raise invalid_object(KIND.resource, "", invalid("spec.expirationSeconds", seconds, text))


def _check_uid(ref: _Ref, bound: BoundObject) -> None:
    if ref.uid and ref.uid != bound.metadata.uid:
        text = (
            f"the UID in the bound object reference ({ref.uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise conflict(Resource("", "v1", ref.kind, ref.kind), ref.name, text)


def _metadata(
    document: JsonObject, account: BoundObject, target: ObjectRef, now: datetime
) -> JsonObject:
    own = {"name": target.name, "namespace": target.namespace, "uid": account.metadata.uid}
    return {**document, **own, "creationTimestamp": timestamp(now)}


def _shown(sent: JsonObject, audiences: tuple[str, ...], seconds: int) -> JsonObject:
    spec = sent.get("spec") or {}
    return {
        "audiences": list(audiences),
        "expirationSeconds": seconds,
        "boundObjectRef": spec.get("boundObjectRef"),
    }


def _after(now: datetime, seconds: int) -> str:
    return timestamp(now + timedelta(seconds=seconds))
