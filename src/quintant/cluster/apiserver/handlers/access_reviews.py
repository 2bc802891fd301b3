"""SubjectAccessReview, SelfSubjectRulesReview, TokenReview: may this user, who is this.

Nothing is stored. What was asked comes back with an answer in its status; the answers are those by
which the server itself lets requests pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.authentication.authenticator import Authenticator
from quintant.cluster.apiserver.authentication.service_accounts import TokenRejected
from quintant.cluster.apiserver.authorization.rbac import Authorizer, join_errors
from quintant.cluster.apiserver.go_types import FieldKind, FieldType
from quintant.cluster.apiserver.go_types.go_struct import struct
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_object
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import bad_request
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.core.clock import Clock, timestamp
from quintant.core.errors import Cause
from quintant.core.resource import Resource

# A real server forgets the kind in its complaints about these.
_ACCESS = Resource("authorization.k8s.io", "v1", "", "")
# No rule but one for everything allows a request that names no resource.
_NO_RESOURCE = " "

_METADATA = FieldType(FieldKind.MESSAGE, name="meta.v1.ObjectMeta")


class _TokenSpec(msgspec.Struct, frozen=True):
    token: str = ""
    audiences: tuple[str, ...] | None = None


class _Resource(msgspec.Struct, frozen=True):
    namespace: str = ""
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""

    @property
    def route(self) -> RequestInfo:
        resource = self.resource or _NO_RESOURCE
        names = (self.namespace, self.name, self.subresource)
        return RequestInfo(self.verb, "", self.group, self.version, resource, *names)


class _Path(msgspec.Struct, frozen=True):
    path: str = ""
    verb: str = ""

    @property
    def route(self) -> RequestInfo:
        return RequestInfo(self.verb, self.path)


class _AccessSpec(msgspec.Struct, frozen=True, rename="camel"):
    resource_attributes: _Resource | None = None
    non_resource_attributes: _Path | None = None
    user: str = ""
    groups: tuple[str, ...] | None = None
    extra: Mapping[str, tuple[str, ...]] | None = None
    uid: str = ""

    @property
    def route(self) -> RequestInfo:
        attributes = self.resource_attributes or self.non_resource_attributes
        assert attributes is not None, "checked before"
        return attributes.route

    @property
    def subject(self) -> User:
        return User(self.user, self.groups or (), self.uid, self.extra or {})


class _RulesSpec(msgspec.Struct, frozen=True):
    namespace: str = ""


class AccessReviews(Struct, frozen=True):
    """Answers questions about tokens, users and permissions."""

    authentication: Authenticator
    authorizer: Authorizer
    clock: Clock

    def answer(self, target: ObjectRef, sent: JsonObject, user: User) -> JsonObject:
        """What a user asked, with the answer."""
        answers: dict[str, Callable[[ObjectRef, JsonObject, User], JsonObject]] = {
            "tokenreviews": self._token,
            "selfsubjectreviews": self._self,
            "subjectaccessreviews": self._access,
            "localsubjectaccessreviews": self._access,
            "selfsubjectaccessreviews": self._own_access,
            "selfsubjectrulesreviews": self._rules,
        }
        return answers[target.kind.name](target, sent, user)

    def _token(self, target: ObjectRef, sent: JsonObject, user: User) -> JsonObject:
        spec = _read(target, sent, _TokenSpec)
        if not spec.token:
            raise bad_request("token is required for TokenReview in authentication")
        try:
            owner, audiences = self.authentication.review(spec.token, spec.audiences)
        except TokenRejected as rejected:
            return sent | {"status": {"user": {}, "error": str(rejected)}}
        status = {"authenticated": True, "user": owner.info, "audiences": list(audiences)}
        return sent | {"status": status}

    def _self(self, target: ObjectRef, sent: JsonObject, user: User) -> JsonObject:
        made = {"creationTimestamp": timestamp(self.clock.now())}
        return _bare(target, made) | {"status": {"userInfo": user.info}}

    def _access(self, target: ObjectRef, sent: JsonObject, user: User) -> JsonObject:
        spec = _read(target, sent, _AccessSpec)
        _refuse([*_local(target, spec), *_subject(spec)], sent, spec)
        return sent | {"status": self._decision(spec.subject, spec.route)}

    def _own_access(self, target: ObjectRef, sent: JsonObject, user: User) -> JsonObject:
        spec = _read(target, sent, _AccessSpec)
        _refuse([], sent, spec)
        return sent | {"status": self._decision(user, spec.route)}

    def _decision(self, user: User, route: RequestInfo) -> JsonObject:
        decision = self.authorizer.decide(user, route)
        return {"allowed": decision.allowed} | (
            {"reason": decision.reason} if decision.reason else {}
        )

    def _rules(self, target: ObjectRef, sent: JsonObject, user: User) -> JsonObject:
        spec = _read(target, sent, _RulesSpec)
        if not spec.namespace:
            raise bad_request("no namespace on request")
        holdings = self.authorizer.rules_for(user, spec.namespace)
        plain = [msgspec.to_builtins(rule) for rule in holdings.rules]
        status = {
            "resourceRules": [rule for rule in plain if "resources" in rule],
            "nonResourceRules": [rule for rule in plain if "nonResourceURLs" in rule],
            "incomplete": False,
        }
        if holdings.missing_roles:
            status["evaluationError"] = join_errors(list(holdings.missing_roles))
        return _bare(target, {}) | {"spec": {}, "status": status}


def _bare(target: ObjectRef, metadata: JsonObject) -> JsonObject:
    resource = target.kind.resource
    return {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}


def _read(target: ObjectRef, sent: JsonObject, model: type[Any]) -> Any:
    try:
        return msgspec.convert(sent.get("spec") or {}, model)
    except msgspec.ValidationError as error:
        kind = target.kind.resource.kind
        raise bad_request(
            f'{kind} in version "v1" cannot be handled as a {kind}: {error}'
        ) from None


def _refuse(subject_causes: list[Cause], sent: JsonObject, spec: _AccessSpec) -> None:
    """422 with what is wrong with a question about access."""
    causes = [*_attributes(spec), *subject_causes, *_named(sent["metadata"])]
    if causes:
        raise invalid_object(_ACCESS, "", *causes)


def _attributes(spec: _AccessSpec) -> Iterator[Cause]:
    one, other = spec.resource_attributes, spec.non_resource_attributes
    if one is not None and other is not None:
        text = "cannot be specified in combination with resourceAttributes"
        yield invalid("spec.nonResourceAttributes", _go_path(other), text)
    if one is None and other is None:
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid("spec.resourceAttributes", None, text)


def _subject(spec: _AccessSpec) -> Iterator[Cause]:
    if not spec.user and not spec.groups:
        yield invalid("spec.user", "", "at least one of user or group must be specified")


def _local(target: ObjectRef, spec: _AccessSpec) -> Iterator[Cause]:
    """What is wrong with a question that is about one namespace only."""
    if not target.kind.resource.namespaced:
        return
    one, other = spec.resource_attributes, spec.non_resource_attributes
    if one is not None and one.namespace != target.namespace:
        text = "must match metadata.namespace"
        yield invalid("spec.resourceAttributes.namespace", one.namespace, text)
    if other is not None:
        text = "disallowed on this kind of request"
        yield invalid("spec.nonResourceAttributes", _go_path(other), text)


def _named(metadata: JsonObject) -> Iterator[Cause]:
    if any(name not in ("managedFields", "namespace") for name in metadata):
        text = "must be empty except for namespace" if "namespace" in metadata else "must be empty"
        yield invalid("metadata", struct(_METADATA, metadata), text)


def _go_path(path: _Path) -> JsonObject:
    """As Go prints the structure: by the names of its fields."""
    return {"Path": path.path, "Verb": path.verb}
