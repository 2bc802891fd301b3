"""Webhooks on the wire: the reviews an API server sends, and the configurations that make it.

`AdmissionReview` and `ConversionReview` are documents, not objects: they are never stored. The
objects inside them stay undecoded (`Raw`), because only a hook knows their type; `given` tells an
object from its absence, which an API server writes as null or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from quintant.api.meta import LabelSelector
from quintant.core.errors import Status
from quintant.core.object import Model, Object
from quintant.core.resource import resource

ADMISSION_V1 = "admission.k8s.io/v1"
ADMISSION_V1BETA1 = "admission.k8s.io/v1beta1"
CONVERSION_V1 = "apiextensions.k8s.io/v1"

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
FailurePolicy = Literal["Fail", "Ignore"]
MatchPolicy = Literal["Equivalent", "Exact"]
SideEffects = Literal["None", "NoneOnDryRun"]
Reinvocation = Literal["Never", "IfNeeded"]
Scope = Literal["*", "Cluster", "Namespaced"]

_ABSENT = msgspec.Raw(b"")


def given(raw: msgspec.Raw) -> bool:
    """Whether a review carries this object."""
    return bytes(raw) not in (b"", b"null")


class GroupVersionKind(Model):
    """A kind by its full name."""

    group: str = ""
    version: str = ""
    kind: str = ""


class GroupVersionResource(Model):
    """A resource by its full name."""

    group: str = ""
    version: str = ""
    resource: str = ""


class UserInfo(Model):
    """Who asked for the change."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}


class AdmissionRequest(Model):
    """A change that an API server asks about.

    `kind` and `resource` are what the rule matched and the objects are in; `request_kind` and
    `request_resource` are what the client sent, where matchPolicy Equivalent converted it.
    """

    uid: str = ""
    kind: GroupVersionKind = GroupVersionKind()
    resource: GroupVersionResource = GroupVersionResource()
    sub_resource: str = ""
    request_kind: GroupVersionKind | None = None
    request_resource: GroupVersionResource | None = None
    request_sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    operation: str = ""
    user_info: UserInfo = UserInfo()
    object: msgspec.Raw = _ABSENT
    old_object: msgspec.Raw = _ABSENT
    dry_run: bool | None = None
    options: msgspec.Raw = _ABSENT


class AdmissionResponse(Model):
    """A webhook's word: whether the change may happen, and how it should differ."""

    uid: str
    allowed: bool
    status: Status | None = None
    patch: bytes = b""
    patch_type: str | None = None
    audit_annotations: Mapping[str, str] = {}
    warnings: tuple[str, ...] = ()


class AdmissionReview(Model):
    """The document that carries a request there and a response back."""

    api_version: str
    kind: str
    request: AdmissionRequest | None = None
    response: AdmissionResponse | None = None


class ConversionRequest(Model):
    """Objects that an API server wants in another version of their kind."""

    uid: str = ""
    desired_api_version: str = msgspec.field(default="", name="desiredAPIVersion")
    objects: tuple[msgspec.Raw, ...] = ()


class ConversionResponse(Model):
    """The same objects in the same order, or the reason why not."""

    uid: str
    result: Status
    converted_objects: tuple[msgspec.Raw, ...] | None = None


class ConversionReview(Model):
    """The document that carries objects there and their other version back."""

    api_version: str
    kind: str
    request: ConversionRequest | None = None
    response: ConversionResponse | None = None


class ServiceReference(Model):
    """A Service in front of a webhook server; its port is 443 unless given."""

    name: str
    namespace: str
    path: str | None = None
    port: int | None = None


class WebhookClientConfig(Model):
    """How an API server reaches a webhook: a Service or a URL, and the authorities it trusts."""

    url: str | None = None
    service: ServiceReference | None = None
    ca_bundle: bytes = b""


class RuleWithOperations(Model):
    """Which requests a webhook is asked about; "*" stands for all."""

    operations: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    api_versions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    scope: Scope | None = None


class MatchCondition(Model):
    """A CEL expression that must hold before a webhook is asked."""

    name: str
    expression: str


class ValidatingWebhook(Model):
    """A webhook that may refuse a change."""

    name: str
    client_config: WebhookClientConfig = WebhookClientConfig()
    rules: tuple[RuleWithOperations, ...] = ()
    failure_policy: FailurePolicy | None = None
    match_policy: MatchPolicy | None = None
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    match_conditions: tuple[MatchCondition, ...] = ()
    side_effects: SideEffects | None = None
    timeout_seconds: int | None = None
    admission_review_versions: tuple[str, ...] = ()


class MutatingWebhook(ValidatingWebhook):
    """A webhook that may refuse or amend a change."""

    reinvocation_policy: Reinvocation | None = None


@resource(group="admissionregistration.k8s.io", version="v1", namespaced=False)
class ValidatingWebhookConfiguration(Object):
    """Webhooks that are asked, all at once, after every mutation."""

    webhooks: tuple[ValidatingWebhook, ...] = ()


@resource(group="admissionregistration.k8s.io", version="v1", namespaced=False)
class MutatingWebhookConfiguration(Object):
    """Webhooks that are asked one after the other, each seeing what those before it changed."""

    webhooks: tuple[MutatingWebhook, ...] = ()


class WebhookConversion(Model):
    """Where a custom kind's conversion webhook is, and the reviews it understands."""

    client_config: WebhookClientConfig
    conversion_review_versions: tuple[str, ...]


class CustomResourceConversion(Model):
    """The `spec.conversion` of a CustomResourceDefinition: None (rename only) or Webhook."""

    strategy: Literal["None", "Webhook"]
    webhook: WebhookConversion | None = None
