"""On a whole cluster: an operator of this process at work in it, and what happened there."""

from __future__ import annotations

from quintant.api.discovery import SERVICE_LABEL, EndpointSlice
from quintant.client.config.credentials import Credential, StaticCredential, bearer_header
from quintant.client.http.authenticated import SignedTransport
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import service_account
from quintant.cluster.instance.cluster import Cluster
from quintant.core import codec
from quintant.core.object import K
from quintant.keys.sensitive import Sensitive
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.rbac import manager_rbac

GONE = "DELETED"
HISTORY_SECONDS = "1"
"""How long a watch goes on that only reads what was."""


async def operator_environment(cluster: Cluster, client: Client, manager: Manager) -> Environment:
    """Where an operator of this process works under exactly its generated role."""
    targets = manager.webhooks.targets()
    for obj in manager_rbac(manager.settings, manager.declarations, "default", targets):
        await client.apply(obj)
    user = service_account("default", manager.name)
    cluster.server.tokens.add(user.name, user)
    credentials = StaticCredential(Credential(bearer_header(Sensitive(user.name))))
    return Environment(SignedTransport(InProcessTransport(cluster.server), credentials))


async def revision(client: Client, kind: type[K], namespace: str) -> str:
    """How far the API server's history of a kind is."""
    page = await client.rest.list_page(kind, namespace, {})
    return page.metadata.resource_version


async def history(client: Client, kind: type[K], namespace: str, since: str) -> list[tuple[str, K]]:
    """Everything that became of a kind since a revision, in order, as a watch tells it."""
    query = {"resourceVersion": since, "timeoutSeconds": HISTORY_SECONDS}
    async with client.rest.watch(kind, namespace, query) as chunks:
        told = b"".join([chunk async for chunk in chunks])
    lines = [codec.decode_line(line) for line in told.splitlines() if line.strip()]
    return [(line.type, codec.decode(kind, line.object)) for line in lines]


async def ready_endpoints(client: Client, service: str, namespace: str, since: str) -> list[int]:
    """How many ready endpoints a Service had, after each change of them."""
    counts: dict[str, int] = {}
    found = []
    for what, piece in await history(client, EndpointSlice, namespace, since):
        if piece.metadata.labels.get(SERVICE_LABEL) != service:
            continue
        ready = sum(each.conditions.ready is True for each in piece.endpoints or ())
        counts[piece.metadata.name] = 0 if what == GONE else ready
        found.append(sum(counts.values()))
    return found
