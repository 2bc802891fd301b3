"""Leases on the API server: read, made, changed on top of a known version, and removed.

What leader election and shards have in common. `rest` should have a connection of its own and no
retries, so that a lease call never waits behind others and its caller knows when it began.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

from quintant.api.coordination import Lease
from quintant.client.rest import MERGE, PAGE_SIZE, Patch, Rest
from quintant.core import codec
from quintant.core.errors import NotFound
from quintant.core.object import Request, replace


class LeaseClient(Struct, frozen=True):
    """The Leases of one namespace."""

    rest: Rest
    namespace: str

    async def read(self, name: str) -> Lease | None:
        """A Lease by its name, from the server; None if there is none."""
        try:
            return await self.rest.get(Lease, Request(name, self.namespace))
        except NotFound:
            return None

    async def list(self, label: str, value: str) -> list[Lease]:
        """Every Lease with a label, from the server."""
        found: list[Lease] = []
        more: Mapping[str, str] | None = {}
        while more is not None:
            query = {"labelSelector": f"{label}={value}", "limit": str(PAGE_SIZE), **more}
            page = await self.rest.list_page(Lease, self.namespace, query)
            found += [codec.decode(Lease, raw) for raw in page.items or ()]
            token = page.metadata.continue_token
            more = {"continue": token} if token else None
        return found

    async def create(self, lease: Lease) -> Lease:
        """Make a Lease; AlreadyExists if there is one of its name."""
        return codec.decode(Lease, await self.rest.create(lease, {}))

    async def patch(self, since: Lease, change: Lease) -> Lease:
        """Change a Lease on top of the version of `since`; Conflict if there is another one."""
        meta = replace(change.metadata, resource_version=since.metadata.resource_version)
        body = codec.encode_object(replace(change, metadata=meta))
        key = Request(since.metadata.name, self.namespace)
        patch = Patch(MERGE, body, idempotent=True)
        return codec.decode(Lease, await self.rest.patch(Lease, key, patch, query={}))

    async def delete(self, lease: Lease) -> None:
        """Remove a Lease in the version known; it is no error if it is gone."""
        meta = lease.metadata
        known = {"uid": meta.uid, "resourceVersion": meta.resource_version}
        with suppress(NotFound):
            key = Request(meta.name, self.namespace)
            await self.rest.delete(Lease, key, {"preconditions": known})
