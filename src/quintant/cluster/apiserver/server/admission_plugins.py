"""DefaultOffAdmissionPlugins: the admission plugins of the server itself, by kind and by name.

Their order within a kind is that of `admission_chain`. A plugin is known by the name that
`--disable-admission-plugins` has for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from quintant.cluster.apiserver.admission import plugin_names as names
from quintant.cluster.apiserver.admission.plugins.certificates import check_subject
from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.admission.plugins.ingress_class import admit_ingress_class
from quintant.cluster.apiserver.admission.plugins.limit_ranger import default_limits, enforce_limits
from quintant.cluster.apiserver.admission.plugins.pod_priority_tolerations import (
    admit_priority,
    admit_tolerations,
    check_priority_class,
)
from quintant.cluster.apiserver.admission.plugins.runtime_class import (
    admit_runtime_class,
    check_overhead,
)
from quintant.cluster.apiserver.admission.plugins.service_account import admit_account
from quintant.cluster.apiserver.admission.plugins.storage import (
    add_claim_protection,
    add_volume_protection,
    admit_storage_class,
    check_resize,
)
from quintant.cluster.apiserver.kinds.draft import Draft


class AdmissionPlugin(Struct, frozen=True):
    """One step of a plugin: amends a draft, in place, or refuses it."""

    name: str
    run: Callable[[Draft, AdmissionContext], None]


MUTATING: Mapping[str, tuple[AdmissionPlugin, ...]] = {
    "ingresses.networking.k8s.io": (AdmissionPlugin(names.INGRESS_CLASS, admit_ingress_class),),
    "persistentvolumeclaims": (
        AdmissionPlugin(names.STORAGE_CLASS, admit_storage_class),
        AdmissionPlugin(names.PROTECTION, add_claim_protection),
    ),
    "persistentvolumes": (AdmissionPlugin(names.PROTECTION, add_volume_protection),),
    "pods": (
        AdmissionPlugin(names.LIMITS, default_limits),
        AdmissionPlugin(names.SERVICE_ACCOUNT, admit_account),
        AdmissionPlugin(names.PRIORITY, admit_priority),
        AdmissionPlugin(names.TOLERATIONS, admit_tolerations),
        AdmissionPlugin(names.RUNTIME_CLASS, admit_runtime_class),
    ),
}
VALIDATING: Mapping[str, tuple[AdmissionPlugin, ...]] = {
    "certificatesigningrequests.certificates.k8s.io": (
        AdmissionPlugin(names.CERTIFICATE_SUBJECT, check_subject),
    ),
    "persistentvolumeclaims": (
        AdmissionPlugin(names.LIMITS, enforce_limits),
        AdmissionPlugin(names.RESIZE, check_resize),
    ),
    "pods": (
        AdmissionPlugin(names.LIMITS, enforce_limits),
        AdmissionPlugin(names.RUNTIME_CLASS, check_overhead),
    ),
    "priorityclasses.scheduling.k8s.io": (AdmissionPlugin(names.PRIORITY, check_priority_class),),
}
"""The plugins that see an object which no step changes any more."""
