"""What is wrong with built-in objects beyond their metadata, in the words of a real server.

One generator of causes per kind, from an object (completed, see
quintant.cluster.apiserver.defaulting.walk) and the live one it shall replace. Essentials only: what
people get wrong, and what must not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.api_services import validate_api_service
from quintant.cluster.apiserver.validation.autoscaling import AUTOSCALERS
from quintant.cluster.apiserver.validation.csi import (
    CSI,
    validate_attributes_class,
    validate_claim_spec,
    validate_storage_capacity,
)
from quintant.cluster.apiserver.validation.disruption_budgets import DISRUPTION_BUDGETS
from quintant.cluster.apiserver.validation.events import validate_event
from quintant.cluster.apiserver.validation.flow_control import FLOW_CONTROL
from quintant.cluster.apiserver.validation.ingresses import INGRESSES
from quintant.cluster.apiserver.validation.ip_addresses import IP_ADDRESSES
from quintant.cluster.apiserver.validation.jobs import JOBS
from quintant.cluster.apiserver.validation.leases_revisions import RECORDS
from quintant.cluster.apiserver.validation.limit_ranges_quotas import LIMITS
from quintant.cluster.apiserver.validation.namespaces import NAMESPACES
from quintant.cluster.apiserver.validation.network_policies import POLICIES
from quintant.cluster.apiserver.validation.nodes import NODES
from quintant.cluster.apiserver.validation.pods.pods import validate_pod
from quintant.cluster.apiserver.validation.pods.templates import TEMPLATES
from quintant.cluster.apiserver.validation.policies import ADMISSION_POLICIES
from quintant.cluster.apiserver.validation.priority_runtime_classes import CLASSES
from quintant.cluster.apiserver.validation.secrets_configmaps import SECRETS_CONFIGMAPS
from quintant.cluster.apiserver.validation.services import (
    validate_endpoint_slice,
    validate_endpoints,
    validate_service,
)
from quintant.cluster.apiserver.validation.statefulsets import STATEFUL_SETS
from quintant.cluster.apiserver.validation.storage import (
    validate_claim,
    validate_storage_class,
    validate_volume,
)
from quintant.cluster.apiserver.validation.webhooks.configurations import WEBHOOKS
from quintant.cluster.apiserver.validation.workloads import WORKLOADS
from quintant.core.errors import Cause

VALIDATORS: dict[str, Callable[[JsonObject, JsonObject | None], Iterable[Cause]]] = {
    **WORKLOADS,
    **ADMISSION_POLICIES,
    **AUTOSCALERS,
    **CSI,
    **FLOW_CONTROL,
    **IP_ADDRESSES,
    **INGRESSES,
    **JOBS,
    **LIMITS,
    **NODES,
    **POLICIES,
    **STATEFUL_SETS,
    **TEMPLATES,
    **CLASSES,
    **DISRUPTION_BUDGETS,
    **NAMESPACES,
    **RECORDS,
    **SECRETS_CONFIGMAPS,
    **WEBHOOKS,
    "apiservices": validate_api_service,
    "endpoints": validate_endpoints,
    "endpointslices": validate_endpoint_slice,
    "events": validate_event,
    "persistentvolumeclaims": validate_claim,
    "persistentvolumes": validate_volume,
    "pods": validate_pod,
    "csistoragecapacities": validate_storage_capacity,
    "volumeattributesclasses": validate_attributes_class,
    "resourceclaims": validate_claim_spec,
    "resourceclaimtemplates": validate_claim_spec,
    "services": validate_service,
    "storageclasses": validate_storage_class,
}
"""The checks of built-in kinds by plural."""

__all__ = ["VALIDATORS"]
