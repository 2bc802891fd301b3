"""The server's own admission: what it holds every write to, and adds to some.

    pods            default limits, service account, priority, tolerations; limits
    claims          default storage class, growth, protection while in use; limits
    volumes         protection while in use
    priority        a single default class
    everything      quotas

Service accounts, protection and quotas need controllers that make, release and count what is asked
for; without them (`managed`) they are left out, as a real server's are switched off then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.admission.plugins.limit_ranger import default_limits, enforce_limits
from quintant.cluster.apiserver.admission.plugins.pod_priority_tolerations import (
    admit_priority,
    admit_priority_class,
    admit_tolerations,
)
from quintant.cluster.apiserver.admission.plugins.resource_quota import enforce_quota
from quintant.cluster.apiserver.admission.plugins.service_account import admit_account
from quintant.cluster.apiserver.admission.plugins.storage import (
    add_claim_protection,
    add_volume_protection,
    admit_resize,
    admit_storage_class,
)
from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.filters.access import Access
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.reconcilers.crd_lifecycle import CrdLifecycle
from quintant.cluster.apiserver.reconcilers.namespace_lifecycle import NamespaceLifecycle

Plugin = Callable[[Draft, AdmissionContext], None]
"""Amends a draft, in place, or refuses it."""

ALWAYS: Mapping[str, tuple[Plugin, ...]] = {
    "persistentvolumeclaims": (admit_storage_class, admit_resize),
    "pods": (default_limits, admit_priority, admit_tolerations),
    "priorityclasses.scheduling.k8s.io": (admit_priority_class,),
}
MANAGED: Mapping[str, tuple[Plugin, ...]] = {
    **ALWAYS,
    "persistentvolumeclaims": (admit_storage_class, admit_resize, add_claim_protection),
    "persistentvolumes": (add_volume_protection,),
    "pods": (default_limits, admit_account, admit_priority, admit_tolerations),
}
VALIDATING: Mapping[str, tuple[Plugin, ...]] = {
    "persistentvolumeclaims": (enforce_limits,),
    "pods": (enforce_limits,),
}
"""What looks at an object once nobody changes it any more."""


class AdmissionChain(Struct, frozen=True):
    """Admission that is part of the server."""

    namespaces: NamespaceLifecycle
    definitions: CrdLifecycle
    access: Access
    context: AdmissionContext
    managed: bool
    """Whether controllers run beside the server."""

    def check_create(self, target: ObjectRef) -> None:
        """Refuse a new object where none may be."""
        self.namespaces.check_create(target)
        self.definitions.check_create(target)

    def admit(self, draft: Draft, options: WriteOptions) -> None:
        """Amend a draft or refuse it, in place."""
        self._run(MANAGED if self.managed else ALWAYS, draft)

    def authorize(self, draft: Draft, user: User) -> None:
        """Refuse what a user may not make of an object."""
        self.access.authorize_draft(draft, user)
        self._run(VALIDATING, draft)
        if self.managed and not draft.target.subresource:
            enforce_quota(draft, self.context)

    def _run(self, plugins: Mapping[str, tuple[Plugin, ...]], draft: Draft) -> None:
        if not draft.target.subresource:
            for plugin in plugins.get(draft.target.kind.table, ()):
                plugin(draft, self.context)
