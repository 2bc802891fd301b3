"""APIAggregator, APIServiceRegistrationController: the APIServices of a cluster, kept true.

Which versions another server serves is known at once, from what is stored. `running` does the
rest: local APIServices, the ConfigMap of extension servers, and a look at each of those whenever
something about it changed, and every now and then. A version whose server was not yet found to
answer is refused with 503, and nothing else is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

from msgspec.structs import replace

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.aggregator.api_service import TABLE, RemoteApi, read_api_service
from quintant.cluster.apiserver.aggregator.availability import PASSED, failed_check, locate
from quintant.cluster.apiserver.aggregator.discovery import (
    UnreadableDiscovery,
    read_openapi_address,
    read_resources,
)
from quintant.cluster.apiserver.aggregator.fetch import FetchFailed, fetch
from quintant.cluster.apiserver.aggregator.front_proxy import FrontProxy
from quintant.cluster.apiserver.aggregator.handler import RemoteHandler, ServiceUnavailable
from quintant.cluster.apiserver.aggregator.registrar import Registrar
from quintant.cluster.apiserver.aggregator.tls import RemoteTransport
from quintant.cluster.apiserver.handlers.pod_streams import PodStream
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.remote_version import RemoteVersion
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.request_info import segments
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.proxy.handler import ProxiedResponse
from quintant.cluster.apiserver.reconcilers.crd_lifecycle import TABLE as DEFINITIONS
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table
from quintant.cluster.apiserver.webhooks.service_resolver import ENDPOINTS, SERVICES, SLICES
from quintant.core.address import BindAddress
from quintant.http.request import Request

RESYNC_SECONDS = 30.0
"""Between two looks at extension servers that answer."""
RETRY_SECONDS = 2.0
"""The same while one of them does not."""
PAUSE_SECONDS = 0.2
"""At least, whatever changes: each look is a connection to each server."""
AT_ONCE = 16
"""Extension servers that are looked at side by side."""
_log = logging.getLogger(__name__)
_BACKENDS = frozenset({SERVICES, SLICES, ENDPOINTS})


class Aggregator:
    """Knows which server serves what, and passes requests on."""

    def __init__(
        self,
        store: RevisionStore,
        catalog: Catalog,
        registrar: Registrar,
        handler: RemoteHandler,
        front_proxy: FrontProxy | None,
    ) -> None:
        self._store, self._catalog = store, catalog
        self._registrar, self._handler = registrar, handler
        self._front_proxy = front_proxy
        self.remotes: dict[str, RemoteApi] = {}
        """What other servers serve, by the names of APIServices."""
        self._available: set[str] = set()
        self._transports: dict[str, RemoteTransport] = {}
        self._wake = asyncio.Event()
        store.subscribe(self._on_change)

    def reload(self) -> None:
        """Look at every APIService again: the store's contents were exchanged."""
        for name in [*self.remotes]:
            self._forget(name)
        for name, _ in self._store.table(TABLE).now.scan():
            self._read(name)
        self._publish()
        self._wake.set()

    def find(self, path: str) -> RemoteApi | None:
        """What another server serves at a path, if one does."""
        match segments(path):
            case ["apis", group, version, *_] | ["openapi", "v3", "apis", group, version]:
                found = (each for each in self.remotes.values() if each.key == (group, version))
                return next(found, None)
        return None

    async def answer(
        self, api: RemoteApi, call: ApiRequest, user: User, incoming: Request | None
    ) -> ApiResponse | ProxiedResponse | PodStream:
        """What comes of a request for what another server serves."""
        transport = self._transport(api)
        if transport is None or api.name not in self._available:
            raise ServiceUnavailable
        return await self._handler.answer(api, transport, call, user, incoming)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep APIServices true for as long as the context lasts."""
        if self._front_proxy is not None:
            self._registrar.publish(self._front_proxy)
        self._registrar.register()
        try:
            async with asyncio.TaskGroup() as group:
                task = group.create_task(self._run())
                try:
                    yield
                finally:
                    task.cancel()
        except BaseExceptionGroup as errors:
            # Who starts a cluster expects its own errors as they were raised.
            raise errors.exceptions[0] from None

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            self._registrar.register()
            await self._look()
            await asyncio.sleep(PAUSE_SECONDS)
            rest = RESYNC_SECONDS if self.remotes.keys() <= self._available else RETRY_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(rest if self.remotes else None):
                    await self._wake.wait()

    async def _look(self) -> None:
        """Look at every extension server once."""
        gate = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for api in [*self.remotes.values()]:
                group.create_task(self._look_at(api, gate))

    async def _look_at(self, api: RemoteApi, gate: asyncio.Semaphore) -> None:
        """Look at one; whatever is wrong with it, nothing else suffers."""
        try:
            async with gate:
                await self._report(api)
        except Exception:
            _log.exception("cannot look at apiservice=%s", api.name)

    async def _report(self, api: RemoteApi) -> None:
        found = locate(self._store, api)
        known = replace(self._known(api), current=False)
        if isinstance(found, BindAddress):
            condition, known = await self._ask(api, found, known)
        else:
            condition = found
        if self.remotes.get(api.name) == api:
            self._publish(known)
            self._registrar.mark(api.name, condition)

    async def _ask(
        self, api: RemoteApi, address: BindAddress, known: RemoteVersion
    ) -> tuple[StatusCondition, RemoteVersion]:
        """Whether a server answers what it has to, and what it says then."""
        url, transport = f"https://{address}{api.path}", self._transport(api)
        if transport is None:
            return failed_check(url, "this server has no certificate of a front proxy"), known
        ask = partial(fetch, transport, address)
        try:
            answer = await ask(api.path)
        except FetchFailed as error:
            return failed_check(url, f'Get "{url}": {error}'), known
        if not 200 <= answer.status < 300:
            return failed_check(url, f"bad status from {url}: {answer.status}"), known
        with suppress(UnreadableDiscovery):
            resources = read_resources(answer.body, api)
            known = replace(known, resources=resources, current=True)
        with suppress(FetchFailed, UnreadableDiscovery):
            index = await ask("/openapi/v3")
            known = replace(known, openapi=read_openapi_address(index.body, api))
        return PASSED, known

    def _known(self, api: RemoteApi) -> RemoteVersion:
        found = self._catalog.remote.get(api.key)
        priorities = api.group_priority, api.version_priority
        if found is None or (found.group_priority, found.version_priority) != priorities:
            return RemoteVersion(api.group, api.version, *priorities)
        return found

    def _publish(self, *news: RemoteVersion) -> None:
        """Have discovery tell what is served elsewhere."""
        versions = {api.key: self._known(api) for api in self.remotes.values()}
        self._catalog.serve_remote(versions | {(each.group, each.version): each for each in news})

    def _transport(self, api: RemoteApi) -> RemoteTransport | None:
        if self._front_proxy is not None and api.name not in self._transports:
            self._transports[api.name] = RemoteTransport(api, self._front_proxy)
        return self._transports.get(api.name)

    def _read(self, name: str) -> bool:
        """Understand a stored APIService; whether it says something else than before."""
        before = self.remotes.pop(name, None)
        self._available.discard(name)
        entry = self._store.table(TABLE).entries.get(name)
        api_service = None if entry is None else read_api_service(entry)
        now = None if api_service is None else api_service.remote
        if now is not None:
            self.remotes[name] = now
            self._available |= {name} if api_service and api_service.available else set()
        if now != before:
            self._transports.pop(name, None)
        return now != before

    def _forget(self, name: str) -> None:
        self.remotes.pop(name, None)
        self._transports.pop(name, None)
        self._available.discard(name)

    def _on_change(self, table: Table, change: Change) -> None:
        if table.name == TABLE:
            if self._read(change.key):
                self._publish()
                self._wake.set()
            elif change.cur is None:
                self._wake.set()
        elif table.name == DEFINITIONS:
            self._wake.set()
        elif table.name in _BACKENDS and self.remotes:
            namespace = change.key.partition("/")[0]
            if any(each.service.namespace == namespace for each in self.remotes.values()):
                self._wake.set()
