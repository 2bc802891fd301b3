"""RESTCreateStrategy, RESTUpdateStrategy: the strategies of the built-in kinds. Data.

The sets below name the exceptions to the default behaviour, by the plural name of the resource. A
fact about a kind belongs here or in quintant.cluster.apiserver.registry.builtin, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from quintant.cluster.apiserver.conversion.autoscaling import to_v1, to_v2
from quintant.cluster.apiserver.conversion.events import to_core, to_group
from quintant.cluster.apiserver.crd import definition
from quintant.cluster.apiserver.crd.validate import validate_definition
from quintant.cluster.apiserver.defaulting.walk import defaulter
from quintant.cluster.apiserver.go_types import MessageType
from quintant.cluster.apiserver.kinds.strategy import (
    ConversionStrategy,
    CreateStrategy,
    DeleteStrategy,
    Strategy,
    UpdateStrategy,
    ValidationStrategy,
)
from quintant.cluster.apiserver.meta.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    path_segment_errors,
)
from quintant.cluster.apiserver.meta.types import DeletionPropagation, JsonObject
from quintant.cluster.apiserver.registry.assign import ASSIGN
from quintant.cluster.apiserver.registry.certificates import (
    CSRS,
    PREPARE_SUBRESOURCE,
    RESET_FIELDS,
    set_requester,
)
from quintant.cluster.apiserver.registry.ephemeral_containers import (
    PREPARE_POD_SUBRESOURCE,
    pod_reset_fields,
)
from quintant.cluster.apiserver.registry.prepare import (
    PREPARE_FOR_CREATE,
    PREPARE_FOR_UPDATE,
    terminate_namespace,
)
from quintant.cluster.apiserver.validation import VALIDATORS, rbac
from quintant.cluster.apiserver.validation.certificates import validate_request
from quintant.cluster.apiserver.validation.ip_addresses import ip_address_name_errors
from quintant.cluster.apiserver.validation.pods.pods import validate_pod_update
from quintant.cluster.apiserver.validation.policies import ADMISSION_POLICIES
from quintant.core.errors import Cause
from quintant.core.resource import Resource

_CREATE_ON_UPDATE = {
    *("leases", "endpoints", "events", "services", "limitranges", "runtimeclasses"),
    *("roles", "rolebindings", "clusterroles", "clusterrolebindings"),
}
_NO_UNCONDITIONAL_UPDATE = {
    *("customresourcedefinitions", "poddisruptionbudgets", "leases", "runtimeclasses"),
    *("validatingwebhookconfigurations", "mutatingwebhookconfigurations", *ADMISSION_POLICIES),
    *("csidrivers", "csinodes", "csistoragecapacities", "volumeattachments", "apiservices"),
}
_STATUS_RESETS = {
    "deployments": frozenset({"labels"}),
    "pods": frozenset({"ownerReferences", "deletionTimestamp"}),
}
# A write of their status changes no metadata.
_STATUS_ALONE = {
    *("apiservices", "flowschemas", "prioritylevelconfigurations"),
    *("servicecidrs", "resourceclaims", "validatingadmissionpolicies", "volumeattachments"),
}
_NO_GENERATION = {
    *("namespaces", "nodes", "persistentvolumes", "persistentvolumeclaims", "services"),
    *("horizontalpodautoscalers", "resourcequotas", CSRS, "servicecidrs", "volumeattachments"),
    *("apiservices", "resourceclaims"),
}
# Without /status, and yet with a generation.
_GENERATION = {
    *("validatingwebhookconfigurations", "mutatingwebhookconfigurations"),
    *("validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"),
    *("mutatingadmissionpolicies", "endpointslices", "priorityclasses"),
    *("ingressclasses", "networkpolicies", "podtemplates", "deviceclasses", "resourceslices"),
}
_GENERATE_MISSING_NAME = {"limitranges"}
_RETURNS_OBJECT = {
    *("namespaces", "pods", "services", "persistentvolumeclaims", "persistentvolumes"),
    *("serviceaccounts", "storageclasses", "csidrivers", "csinodes", "volumeattachments"),
    *("podtemplates", "replicationcontrollers", "resourcequotas", "volumeattributesclasses"),
    *("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"),
}
_DEFAULT_PROPAGATION: dict[str, DeletionPropagation | None] = {
    "jobs": DeletionPropagation.ORPHAN,
    "replicationcontrollers": DeletionPropagation.ORPHAN,
    "events": None,
    "customresourcedefinitions": None,
}
_ON_DELETE = {"customresourcedefinitions": definition.on_delete, "namespaces": terminate_namespace}
_ORPHAN_WARNING = {
    "jobs": "child pods are preserved by default when jobs are deleted; set "
    "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this "
    "warning"
}
_VALIDATE: dict[str, Callable[[JsonObject, JsonObject | None], Iterable[Cause]]] = {
    **VALIDATORS,
    "roles": rbac.validate_role,
    "clusterroles": rbac.validate_cluster_role,
    "rolebindings": rbac.validate_role_binding,
    "clusterrolebindings": rbac.validate_cluster_role_binding,
}
_VALIDATE_CUSTOM = {
    "customresourcedefinitions": validate_definition,
    CSRS: validate_request,
    "pods": validate_pod_update,
}
_PREPARE_SUBRESOURCE = {CSRS: PREPARE_SUBRESOURCE, "pods": PREPARE_POD_SUBRESOURCE}
_VALIDATE_NAME = {
    **dict.fromkeys(("namespaces", "services", "statefulsets"), dns1123_label_errors),
    **dict.fromkeys(("events", "poddisruptionbudgets"), path_segment_errors),
    **dict.fromkeys(("roles", "rolebindings"), path_segment_errors),
    **dict.fromkeys(("clusterroles", "clusterrolebindings"), path_segment_errors),
    "apiservices": path_segment_errors,
    CSRS: lambda name: [],
    "ipaddresses": ip_address_name_errors,
}
_METADATA_LAST = {"events", "poddisruptionbudgets"}
_UNQUALIFIED_FINALIZERS = {
    *("customresourcedefinitions", "events", "leases", "poddisruptionbudgets", "runtimeclasses"),
    *("validatingwebhookconfigurations", "mutatingwebhookconfigurations", *ADMISSION_POLICIES),
}
_DEFAULTS = {
    **dict.fromkeys(("rolebindings", "clusterrolebindings"), rbac.default_binding),
    "customresourcedefinitions": definition.default,
}
# What is kept in another form, by its version.
_CONVERSIONS = {
    "events.k8s.io/v1 Event": ConversionStrategy(to_group, to_core),
    "autoscaling/v1 HorizontalPodAutoscaler": ConversionStrategy(to_v1, to_v2),
}
_AS_STORED = ConversionStrategy()


def strategy_of(resource: Resource, message: MessageType) -> Strategy:
    """How a built-in kind behaves."""
    plural = resource.plural
    return Strategy(
        create=_create(plural),
        update=_update(plural),
        delete=_delete(plural),
        conversion=_CONVERSIONS.get(f"{resource.api_version} {resource.kind}", _AS_STORED),
        validation=_validation(resource),
        tracks_generation=(resource.status and plural not in _NO_GENERATION)
        or plural in _GENERATION,
        default=_DEFAULTS.get(plural) or defaulter(message),
        assign=ASSIGN.get(plural),
    )


def _create(plural: str) -> CreateStrategy:
    return CreateStrategy(
        generate_missing_name=plural in _GENERATE_MISSING_NAME,
        keep_status=plural == "nodes",
        prepare_for_create=PREPARE_FOR_CREATE.get(plural),
        set_requester=set_requester if plural == CSRS else None,
    )


def _update(plural: str) -> UpdateStrategy:
    return UpdateStrategy(
        allow_create_on_update=plural in _CREATE_ON_UPDATE,
        allow_unconditional_update=plural not in _NO_UNCONDITIONAL_UPDATE,
        prepare_for_update=PREPARE_FOR_UPDATE.get(plural),
        prepare_subresource=_PREPARE_SUBRESOURCE.get(plural, {}),
        reset_fields=_reset_fields(plural),
        status_updates_metadata=plural not in _STATUS_ALONE,
        status_resets=_STATUS_RESETS.get(plural, frozenset()),
    )


def _reset_fields(plural: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    if plural == "pods":
        return pod_reset_fields()
    return RESET_FIELDS if plural == CSRS else {}


def _delete(plural: str) -> DeleteStrategy:
    return DeleteStrategy(
        graceful=plural == "pods",
        default_propagation=_DEFAULT_PROPAGATION.get(plural, DeletionPropagation.BACKGROUND),
        returns_object=plural in _RETURNS_OBJECT,
        on_delete=_ON_DELETE.get(plural),
        orphan_warning=_ORPHAN_WARNING.get(plural, ""),
    )


def _validation(resource: Resource) -> ValidationStrategy:
    plural = resource.plural
    return ValidationStrategy(
        validate_name=_VALIDATE_NAME.get(plural, dns1123_subdomain_errors),
        unqualified_finalizers=plural in _UNQUALIFIED_FINALIZERS,
        metadata_last=plural in _METADATA_LAST,
        validate=_VALIDATE.get(plural),
        validate_custom=_VALIDATE_CUSTOM.get(plural),
        reported_as=Resource("", "v1", resource.kind, plural) if plural == "events" else None,
    )
