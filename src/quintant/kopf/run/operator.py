"""The operator: started, at work until it is told to stop, and ended in order.

startup → login → discovery → webhooks, peers, probes → watches and rounds → cleanup
"""

from __future__ import annotations

import asyncio
import getpass
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from quintant.client.http.transport import HttpTransport
from quintant.client.request_limit import RequestLimit
from quintant.client.rest import Rest
from quintant.client.retry import with_retries
from quintant.core.errors import ConfigError, leaf_errors
from quintant.kopf.declare.handlers import HandlerKind
from quintant.kopf.declare.lifecycles import Lifecycle, get_default_lifecycle
from quintant.kopf.declare.registry import WEBHOOK_KINDS, OperatorRegistry, get_default_registry
from quintant.kopf.declare.settings import OperatorSettings
from quintant.kopf.run.activities import run_activity
from quintant.kopf.run.cluster_view import ClusterView
from quintant.kopf.run.daemons import ObjectDaemons
from quintant.kopf.run.discovering import chosen, discover
from quintant.kopf.run.indices import OperatorIndices
from quintant.kopf.run.invoke import Execution
from quintant.kopf.run.login import LoginCredentials, chosen_connection
from quintant.kopf.run.memories import Memories
from quintant.kopf.run.posting import EventPoster
from quintant.kopf.run.probing import serving_probes
from quintant.kopf.run.round_values import Operating
from quintant.kopf.run.threads import HandlerThreads
from quintant.kopf.values.flags import DaemonStoppingReason
from quintant.kopf.values.memo import Memo
from quintant.runtime.manager.environment import Environment, production_environment
from quintant.runtime.observe.logs import get_logger

FLUSH_SECONDS = 5.0
WRITES_AT_ONCE = 32
"""Of all objects together: more would only take connections from a slow server."""

log: Final = get_logger()


class OperatorOptions(Struct, frozen=True):
    """How an operator is run, beside what its handlers say."""

    namespaces: tuple[str, ...] = ()
    """Names or patterns; without any, all namespaces."""
    standalone: bool | None = None
    priority: int | None = None
    peering_name: str | None = None
    clusterwide: bool = False
    liveness: str = ""
    """Where probes are answered, as http://0.0.0.0:8080/healthz."""
    identity: str = ""
    registry: OperatorRegistry | None = None
    settings: OperatorSettings | None = None
    memo: Any = field(default_factory=Memo)
    lifecycle: Lifecycle | None = None


class KopfOperator:
    """One operator, from its start to its end."""

    def __init__(self, environment: Environment, options: OperatorOptions) -> None:
        self._environment, self._options = environment, options
        self._registry = options.registry or get_default_registry()
        self._settings = options.settings or OperatorSettings()
        _choose_peering(self._settings, options)
        self.started: Final = asyncio.Event()
        """Set once everything that is there is followed."""

    async def run(self) -> None:
        """Work until cancelled; ActivityError if a startup handler failed for good."""
        if not len(self._registry):
            raise ConfigError(
                "cannot run this operator", because="it declares no handlers",
                hint="@kopf.on.create('kopfexamples')",
            )  # fmt: skip
        environment, settings = self._environment, self._settings
        indices = OperatorIndices(each.id for each in self._registry.of(HandlerKind.INDEX))
        execution = self._execution(None)
        await self._activity(execution, HandlerKind.STARTUP, indices)
        try:
            async with AsyncExitStack() as stack:
                environment = await self._logged_in(stack, execution, indices)
                rest = Rest(environment.transport)
                events = EventPoster(rest, settings, environment.clock, environment.namespace)
                await self._work(environment, rest, self._execution(events), indices, events)
        finally:
            await asyncio.shield(self._activity(execution, HandlerKind.CLEANUP, indices))

    def _execution(self, events: EventPoster | None) -> Execution:
        return Execution(
            self._settings,
            self._environment.clock,
            self._options.lifecycle or get_default_lifecycle(),
            HandlerThreads(self._settings.execution),
            events,
            asyncio.Event(),
        )

    async def _activity(
        self, execution: Execution, kind: HandlerKind, indices: OperatorIndices
    ) -> dict[str, Any]:
        return await run_activity(execution, self._registry, kind, self._options.memo, indices)

    async def _logged_in(
        self, stack: AsyncExitStack, execution: Execution, indices: OperatorIndices
    ) -> Environment:
        """The environment, with the server and the credentials of login handlers if there are."""
        environment = self._environment
        if not self._registry.of(HandlerKind.LOGIN):
            logger = logging.getLogger(f"kopf.activities.{HandlerKind.LOGIN.value}")
            logger.debug("Client is configured as kubectl's would be.")
            logger.info("Activity 'login' succeeded.")  # kopf has login handlers of its own
            return environment

        async def login() -> Any:
            found = await self._activity(execution, HandlerKind.LOGIN, indices)
            return chosen_connection(found)

        credentials = LoginCredentials(login, environment.clock)
        config = (await credentials.first()).config()
        transport = HttpTransport(config, environment.clock, credentials=credentials)
        stack.push_async_callback(transport.close)
        return replace(environment, transport=with_retries(transport), namespace=config.namespace)

    async def _work(
        self,
        environment: Environment,
        rest: Rest,
        execution: Execution,
        indices: OperatorIndices,
        events: EventPoster,
    ) -> None:
        memories = Memories(self._options.memo)
        try:
            async with asyncio.TaskGroup() as group, asyncio.TaskGroup() as daemon_group:
                writes = Rest(RequestLimit(environment.transport, WRITES_AT_ONCE))
                daemons = ObjectDaemons(execution, writes, daemon_group)
                daemons.know(self._registry.of(HandlerKind.DAEMON, HandlerKind.TIMER))
                shared = Operating(execution, rest, writes, indices, daemons)
                view = ClusterView(
                    shared, self._registry, memories, environment, self._options, group
                )
                posting = group.create_task(events.run())
                try:
                    async with self._extras(environment, rest, execution, memories, indices):
                        await view.follow()
                        self.started.set()
                        log.info("started", handlers=len(self._registry))
                        await asyncio.get_running_loop().create_future()
                finally:
                    await asyncio.shield(self._end(view, daemons, memories, execution))
                    await asyncio.shield(events.flush(FLUSH_SECONDS))
                    posting.cancel()
        except BaseExceptionGroup as group:
            # Of what ended it, people are told one thing.
            errors = [each for each in leaf_errors(group) if isinstance(each, Exception)]
            raise errors[0] if errors else asyncio.CancelledError from None

    async def _end(
        self, view: ClusterView, daemons: ObjectDaemons, memories: Memories, execution: Execution
    ) -> None:
        await view.stop()
        await daemons.stop_all(memories.all(), DaemonStoppingReason.OPERATOR_EXITING)
        execution.abandoned.set()

    @asynccontextmanager
    async def _extras(
        self,
        environment: Environment,
        rest: Rest,
        execution: Execution,
        memories: Memories,
        indices: OperatorIndices,
    ) -> AsyncIterator[None]:
        """Webhooks and probes, as long as the context lasts."""
        async with AsyncExitStack() as stack:
            if self._options.liveness:

                async def probe() -> dict[str, Any]:
                    return await self._activity(execution, HandlerKind.PROBE, indices)

                await stack.enter_async_context(serving_probes(self._options.liveness, probe))
            if self._registry.of(*WEBHOOK_KINDS):
                await self._webhooks(stack, environment, rest, execution, memories, indices)
            yield

    async def _webhooks(
        self,
        stack: AsyncExitStack,
        environment: Environment,
        rest: Rest,
        execution: Execution,
        memories: Memories,
        indices: OperatorIndices,
    ) -> None:
        # Certificates are costly to load, and few operators have webhooks.
        from quintant.kopf.run.reviews import Reviewer
        from quintant.kopf.run.webhooks import configure, serving, withdraw

        admission, handlers = self._settings.admission, self._registry.of(*WEBHOOK_KINDS)
        if admission.server is None:
            raise ConfigError(
                "cannot serve webhooks", because="no server is chosen for them",
                hint="settings.admission.server = kopf.WebhookServer(…) in a startup handler",
            )  # fmt: skip
        selectors = [each.selector for each in handlers if each.selector is not None]
        resources = chosen(selectors, await discover(rest))
        known = {(each.group, each.version, each.plural): each for each in resources}
        reviewer = Reviewer(execution, self._registry, memories, indices, known)
        client = await stack.enter_async_context(
            serving(admission.server, reviewer, environment.clock)
        )
        if admission.managed:
            given = (rest, admission.managed, handlers, resources, client)
            stack.push_async_callback(withdraw, *given)
            await configure(*given)


async def run_operator(
    options: OperatorOptions,
    *,
    environment: Environment | None = None,
    stop: Callable[[], Awaitable[None]] | None = None,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Run an operator until it is cancelled, or `stop` returns; `ready` once it is at work."""
    own = environment is None
    found = environment or production_environment(service="kopf")
    operator = KopfOperator(found, options)
    work = asyncio.ensure_future(operator.run())
    waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(_tell(operator, ready))]
    if stop is not None:
        waits.append(asyncio.ensure_future(stop()))
    try:
        await asyncio.wait({work, *waits[1:]}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in (work, *waits):
            each.cancel()
        await asyncio.wait({work, *waits})
        if own:
            await found.close()
    if not work.cancelled() and (error := work.exception()) is not None:
        raise error


async def _tell(operator: KopfOperator, ready: Callable[[], None]) -> None:
    await operator.started.wait()
    ready()


def own_identity(environ: Iterable[tuple[str, str]] | None = None) -> str:
    """What this operator is called among its peers."""
    given = dict(os.environ.items() if environ is None else environ)
    return given.get("POD_ID") or f"{getpass.getuser()}@{socket.gethostname()}/{os.getpid()}"


def _choose_peering(settings: OperatorSettings, options: OperatorOptions) -> None:
    peering = settings.peering
    if options.peering_name is not None:
        peering.name, peering.mandatory = options.peering_name, True
    if options.standalone is not None:
        peering.standalone = options.standalone
    if options.priority is not None:
        peering.priority = options.priority
    peering.clusterwide = options.clusterwide or not options.namespaces
