"""AllOrderedPlugins: the admission plugins of the server itself, in their order.

    mutating        NamespaceLifecycle, then
      pods            LimitRanger, ServiceAccount, Priority, DefaultTolerationSeconds,
                      RuntimeClass
      claims          DefaultStorageClass, StorageObjectInUseProtection
      volumes         StorageObjectInUseProtection
    validating      of what is valid by itself
      pods, claims    LimitRanger; of claims PersistentVolumeClaimResize, too
      pods            RuntimeClass
      classes         Priority: one default
      requests        CertificateApproval, CertificateSigning, CertificateSubjectRestriction
    at last         ResourceQuota, after validating policies and webhooks

Service accounts, protection and quotas need controllers that make, release and count what is asked
for; without them they are left out unless they are asked for, as a real server's are switched off
then. Which plugins there are is in `admission_plugins`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from quintant.cluster.apiserver.admission.plugin_names import RESOURCE_QUOTA
from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.admission.plugins.namespace_lifecycle import (
    admit_namespace,
    check_namespace,
)
from quintant.cluster.apiserver.admission.plugins.resource_quota import enforce_quota
from quintant.cluster.apiserver.authorization.param_access import ParamAccess
from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.filters.access import Access
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.reconcilers.crd_lifecycle import CrdLifecycle
from quintant.cluster.apiserver.server.admission_plugins import (
    MUTATING,
    VALIDATING,
    AdmissionPlugin,
)


class AdmissionChain(Struct, frozen=True):
    """Admission that is part of the server."""

    definitions: CrdLifecycle
    access: Access
    params: ParamAccess
    context: AdmissionContext
    disabled: frozenset[str]
    """The plugins that are not asked."""

    def check_create(self, target: ObjectRef) -> None:
        """Refuse a new object whose namespace or definition is absent or being deleted."""
        check_namespace(target, self.context)
        self.definitions.check_create(target)

    def admit(self, draft: Draft, options: WriteOptions) -> None:
        """Run the mutating plugins: they amend a draft, in place, or refuse it."""
        admit_namespace(draft, self.context)
        if draft.base is None:
            name = draft.obj["metadata"].get("name", "")
            self.definitions.check_create(draft.target.with_name(name))
        self._run(MUTATING, draft)

    def check_escalation(self, draft: Draft, user: User) -> None:
        """Refuse a role or binding that gives more than its author holds."""
        self.access.check_escalation(draft, user)

    def authorize_create(self, draft: Draft, user: User) -> None:
        """Refuse an update that creates, of a user who may not create."""
        self.access.authorize_create(draft, user)

    def validate(self, draft: Draft, user: User) -> None:
        """Run the validating plugins, but for the quota: they refuse a draft that is valid."""
        self.params.check(draft, user)
        self.access.check_signer(draft, user, self.disabled)
        self._run(VALIDATING, draft)

    def check_quota(self, draft: Draft) -> None:
        """Refuse what a quota has no room for, where controllers count what is used."""
        if RESOURCE_QUOTA not in self.disabled and not draft.target.subresource:
            enforce_quota(draft, self.context)

    def _run(self, plugins: Mapping[str, tuple[AdmissionPlugin, ...]], draft: Draft) -> None:
        if not draft.target.subresource:
            for plugin in plugins.get(draft.target.kind.table, ()):
                if plugin.name not in self.disabled:
                    plugin.run(draft, self.context)
