"""A manager under exactly the roles that are generated for it, and what it makes of them.

    cluster = InProcessCluster(rbac=True)
    account = await grant(cluster, manager)
    await cluster.run(manager, environment=cluster.environment(account.credentials))
    ...
    assert not account.denied()     # a verb it lacks
    print(account.unused())         # a verb it could do without

The namespaces that the manager is restricted to must exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus

from quintant.client.config.credentials import (
    Credential,
    CredentialProvider,
    StaticCredential,
    bearer,
)
from quintant.cluster.apiserver.filters.audit import AuditRecord
from quintant.cluster.apiserver.meta.user import service_account
from quintant.keys.sensitive import Sensitive
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.permissions import Needs, Permission
from quintant.runtime.manager.rbac import generated, needs
from quintant.testing.cluster import InProcessCluster


async def grant(cluster: InProcessCluster, manager: Manager, namespace: str = "default") -> Account:
    """Give a manager that lives in a namespace its service account, its roles, and a token."""
    targets = manager.webhooks.targets()
    for obj in generated(manager.settings, manager.declarations, namespace, targets):
        await cluster.client.apply(obj)
    user = service_account(namespace, manager.name)
    cluster.server.tokens.add(user.name, user)
    credentials = StaticCredential(Credential(bearer(Sensitive(user.name))))
    return Account(cluster, user.name, credentials, needs(manager.declarations))


@dataclass(frozen=True, slots=True)
class Account:
    """The service account of a manager."""

    cluster: InProcessCluster = field(repr=False)
    user: str
    credentials: CredentialProvider
    permissions: Needs
    """What its controllers declare; the lease is granted apart."""

    def requests(self) -> list[AuditRecord]:
        """What it asked for, as far as the server remembers."""
        return self.cluster.server.audit.by(self.user)

    def denied(self) -> list[AuditRecord]:
        """What it asked for and may not do."""
        return [record for record in self.requests() if record.code == HTTPStatus.FORBIDDEN]

    def unused(self) -> set[Permission]:
        """What it may do and did not."""
        used = {held[:3] for held in self.cluster.server.audit.used(self.user)}
        return {held for held in self.permissions if held[:3] not in used}
