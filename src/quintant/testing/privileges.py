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
    bearer_header,
)
from quintant.cluster.apiserver.filters.audit import AuditRecord
from quintant.cluster.apiserver.meta.user import service_account
from quintant.core.errors import ConfigError, NotFound
from quintant.core.object import Object
from quintant.core.resource import resource_of
from quintant.keys.sensitive import Sensitive
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.permissions import Permission, Permissions
from quintant.runtime.manager.rbac import manager_rbac, required_permissions
from quintant.testing.cluster import InProcessCluster


async def grant(
    cluster: InProcessCluster, manager: Manager, namespace: str = "default"
) -> GrantedAccount:
    """Give a manager that lives in a namespace its service account, its roles, and a token."""
    targets = manager.webhooks.targets()
    for obj in manager_rbac(manager.settings, manager.declarations, namespace, targets):
        await _apply(cluster.client, obj)
    user = service_account(namespace, manager.name)
    cluster.server.tokens.add(user.name, user)
    credentials = StaticCredential(Credential(bearer_header(Sensitive(user.name))))
    return GrantedAccount(
        cluster, user.name, credentials, required_permissions(manager.declarations)
    )


async def _apply(client: Client, obj: Object) -> None:
    try:
        await client.apply(obj)
    except NotFound as error:
        raise ConfigError(
            f"cannot give {obj.metadata.name} its {resource_of(type(obj)).kind}"
            f" in namespace {obj.metadata.namespace}",
            because=error.message,
            hint="create the namespaces that a manager is held to before its roles",
        ) from error


@dataclass(frozen=True, slots=True)
class GrantedAccount:
    """The service account of a manager."""

    cluster: InProcessCluster = field(repr=False)
    user: str
    credentials: CredentialProvider
    permissions: Permissions
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
