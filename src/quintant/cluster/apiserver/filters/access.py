"""WithAuthentication, WithAuthorization: from a request's credentials to whether it may proceed.

    credentials ─► authentication ─► impersonation ─► authorisation ─► (on writes) escalation

What is allowed is noted in the audit, so that it knows which permissions somebody really needs.
"""

from __future__ import annotations

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.authentication.authenticator import Authenticator
from quintant.cluster.apiserver.authentication.service_accounts import ServiceAccountTokens
from quintant.cluster.apiserver.authorization.escalation import Escalation
from quintant.cluster.apiserver.authorization.rbac import (
    AllowAll,
    Authorizer,
    Rbac,
    forbidden_request,
)
from quintant.cluster.apiserver.authorization.signers import check_signer
from quintant.cluster.apiserver.filters.audit import Audit
from quintant.cluster.apiserver.filters.impersonation import Impersonation, requested_user
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.user import StaticTokens, User
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.clock import Clock
from quintant.keys.sensitive import Sensitive


class Access:
    """Tells users apart and holds them to their permissions."""

    def __init__(
        self,
        store: RevisionStore,
        clock: Clock,
        *,
        rbac: bool,
        key: Sensitive[bytes] | None,
        issuers: tuple[str, ...],
    ) -> None:
        self.tokens: StaticTokens = StaticTokens()
        self.audit: Audit = Audit()
        self.accounts: ServiceAccountTokens = ServiceAccountTokens(store, clock, key, issuers)
        self.authenticator: Authenticator = Authenticator(self.tokens, self.accounts)
        self.authorizer: Authorizer = Rbac(store) if rbac else AllowAll()
        self._impersonation = Impersonation(self.authorize)
        self._escalation = Escalation(self.authorizer)

    def authenticate(self, call: ApiRequest, request_info: RequestInfo, peer: User | None) -> User:
        """The user a request counts as; 401 or 403 if it may not count as that one."""
        user = self.authenticator.authenticate(call.headers, peer)
        other = requested_user(call.headers)
        return user if other is None else self._impersonation.impersonate(user, other, request_info)

    def authorize(self, user: User, request_info: RequestInfo) -> None:
        """403 unless the user may do what is asked."""
        decision = self.authorizer.decide(user, request_info)
        if not decision.allowed:
            raise forbidden_request(user, request_info, decision.reason)
        self.audit.record_allowed(user.name, request_info)

    def check_escalation(self, draft: Draft, user: User) -> None:
        """403 for a role or binding that gives more than its author holds."""
        self._escalation.check(draft, user)

    def check_signer(self, draft: Draft, user: User, disabled: frozenset[str]) -> None:
        """403 for an approval or a certificate of a signer that is not the user's to decide for."""
        check_signer(draft, user, self.authorizer, disabled)

    def authorize_create(self, draft: Draft, user: User) -> None:
        """403 for an update or apply that creates its object without the permission to create."""
        if draft.create_on_update:
            self.authorize(user, _creation(draft.target))


def _creation(target: ObjectRef) -> RequestInfo:
    resource = target.kind.resource
    return RequestInfo(
        "create",
        "",
        resource.group,
        resource.version,
        resource.plural,
        target.namespace,
        target.name,
    )
