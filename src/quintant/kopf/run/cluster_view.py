"""What of a cluster an operator follows: its resources, in its namespaces, as both come and go.

A watch for each resource in each namespace, or one for all. Definitions and, where namespaces are
patterns, namespaces are followed, too; while peers keep the operator from working, nothing is.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any, Final

from quintant.core.errors import ConfigError, QuintantError
from quintant.kopf.declare.registry import RESOURCE_KINDS, OperatorRegistry
from quintant.kopf.declare.resource import Resource, ResourceSelector
from quintant.kopf.run.discovering import chosen, discover
from quintant.kopf.run.memories import Memories
from quintant.kopf.run.peering import CLUSTERWIDE, GROUPS, NAMESPACED, Peering
from quintant.kopf.run.round_values import HandlerSet, Operating
from quintant.kopf.run.rounds import Rounds
from quintant.kopf.run.watching import RawObject, ResourceWatch
from quintant.kopf.run.workers import Workers, uid_of
from quintant.kopf.values.flags import DaemonStoppingReason
from quintant.runtime.manager.environment import Environment
from quintant.runtime.observe.logs import get_logger

if TYPE_CHECKING:
    from quintant.kopf.run.operator import OperatorOptions

DEFINITIONS = ResourceSelector(group="apiextensions.k8s.io", plural="customresourcedefinitions")
NAMESPACES = ResourceSelector(group="", version="v1", plural="namespaces")
SETTLE_SECONDS = 0.5
"""Between a change of definitions and a look at what is served then."""

log: Final = get_logger()


@dataclass
class _Followed:
    """One resource in one namespace."""

    workers: Workers
    task: asyncio.Task[None]


class ClusterView:
    """All that is followed."""

    def __init__(
        self,
        shared: Operating,
        registry: OperatorRegistry,
        memories: Memories,
        environment: Environment,
        options: OperatorOptions,
        group: asyncio.TaskGroup,
    ) -> None:
        self._shared, self._registry, self._memories = shared, registry, memories
        self._environment, self._options, self._group = environment, options, group
        self._settings = shared.execution.settings
        self._followed: dict[tuple[Resource, str], _Followed] = {}
        self._resources: list[Resource] = []
        self._namespaces: set[str] = set()
        self._helpers: list[asyncio.Task[None]] = []
        self._indexed, self._unindexed = asyncio.Event(), set[str]()
        self._unlisted = set[tuple[Resource, str]]()
        self._conflicts: set[str] = set()
        self._changed = asyncio.Event()
        self._rival = asyncio.Event()
        """Set while peers keep this operator from working."""

    async def follow(self) -> None:
        """Begin, with all that is there now."""
        every = await discover(self._shared.rest)
        self._resources = self._chosen(every)
        await self._name_namespaces(every)
        await self._join_peers(every)
        self._adjust()
        if not self._settings.scanning.disabled:
            self._scan(every)
        self._helpers.append(self._group.create_task(self._keep_adjusted()))

    async def stop(self) -> None:
        """Follow nothing any more."""
        for each in self._helpers:
            each.cancel()
        if self._helpers:
            await asyncio.wait(self._helpers)
        for key in list(self._followed):
            await self._leave(key)

    def _chosen(self, every: list[Resource]) -> list[Resource]:
        handlers = self._registry.of(*RESOURCE_KINDS)
        found = chosen([each.selector for each in handlers if each.selector], every)
        missing = [
            str(each.selector.any_name or each.selector.plural or each.selector.kind)
            for each in handlers
            if each.selector and not each.selector.select(every)
        ]
        if missing:
            log.warning("kinds are not served", kinds=sorted(set(missing)))
        return found

    async def _name_namespaces(self, every: list[Resource]) -> None:
        """Begin with the namespaces that patterns name now; plain names are taken as they are."""
        self._namespaces = {each for each in self._options.namespaces if _plain(each)}
        if any(not _plain(each) for each in self._options.namespaces):
            resource = NAMESPACES.select(every)[0]
            self._watch(resource, "", self._see_namespace)

    def _scan(self, every: list[Resource]) -> None:
        definitions = DEFINITIONS.select(every)
        if definitions:
            self._watch(definitions[0], "", lambda type, raw: self._changed.set())

    async def _join_peers(self, every: list[Resource]) -> None:
        settings = self._settings.peering
        if settings.standalone:
            return
        plural = CLUSTERWIDE if settings.clusterwide else NAMESPACED
        served = [each for each in every if each.plural == plural and each.group in GROUPS]
        if not served and settings.mandatory:
            raise ConfigError(
                f"cannot join the peering {settings.name}",
                because=f"the cluster has no {plural}",
                hint="apply kopf's definitions of peerings, or leave --peering out",
            )
        for resource in served:
            for namespace in sorted(self._namespaces) if resource.namespaced else [""]:
                self._join(resource, namespace)

    def _join(self, resource: Resource, namespace: str) -> None:
        from quintant.kopf.run.operator import own_identity

        name, environment = f"{resource} {namespace}", self._environment
        peering = Peering(
            self._shared.rest, resource, namespace,
            self._options.identity or own_identity(), self._settings.peering,
            clock=environment.clock, random=environment.random,
            conflicting=lambda held: self._conflict(name, held=held),
        )  # fmt: skip
        self._watch(resource, namespace, peering.report)
        self._helpers.append(self._group.create_task(peering.keep_alive()))

    def _conflict(self, name: str, *, held: bool) -> None:
        before = bool(self._conflicts)
        (self._conflicts.add if held else self._conflicts.discard)(name)
        if before != bool(self._conflicts):
            log.info("paused for a peer" if self._conflicts else "no peer is in the way any more")
            (self._rival.set if self._conflicts else self._rival.clear)()
            self._changed.set()

    def _see_namespace(self, type: str | None, raw: RawObject) -> None:
        name = raw["metadata"]["name"]
        wanted = type != "DELETED" and any(
            _matches(name, each) for each in self._options.namespaces
        )
        (self._namespaces.add if wanted else self._namespaces.discard)(name)
        self._changed.set()

    async def _keep_adjusted(self) -> None:
        """Follow what is there, as that changes."""
        while True:
            await self._changed.wait()
            paused = self._rival.is_set()
            if not paused:
                await asyncio.sleep(SETTLE_SECONDS)
            self._changed.clear()
            try:
                self._resources = self._chosen(await discover(self._shared.rest))
            except QuintantError as error:
                log.warning("discovery failed", why=str(error))
            await self._drop()
            self._adjust()

    def _wanted(self) -> set[tuple[Resource, str]]:
        if self._rival.is_set():
            return set()
        wanted = set()
        for resource in self._resources:
            if self._options.namespaces and resource.namespaced:
                wanted |= {(resource, namespace) for namespace in self._namespaces}
            else:
                wanted.add((resource, ""))
        return wanted

    async def _drop(self) -> None:
        wanted = self._wanted()
        for key in [key for key in self._followed if key not in wanted]:
            await self._leave(key)
        if self._rival.is_set():
            reason = DaemonStoppingReason.OPERATOR_PAUSING
            await self._shared.daemons.stop_all(self._memories.all(), reason)

    def _adjust(self) -> None:
        for resource, namespace in self._wanted() - self._followed.keys():
            self._enter(resource, namespace)
        self._check_indexed()

    def _enter(self, resource: Resource, namespace: str) -> None:
        key = (resource, namespace)
        handlers = HandlerSet.of(self._registry, resource)
        queueing = self._settings.queueing
        workers = Workers(
            Rounds(self._shared, resource, handlers),
            self._memories,
            self._group,
            self._indexed,
            consistency=self._settings.persistence.consistency_timeout,
            limit=queueing.worker_limit,
            error_delays=tuple(queueing.error_delays),
            first_indexed=self._forget_unindexed,
        )
        indexes = bool(handlers.index)
        if indexes and not self._indexed.is_set():
            self._unlisted.add(key)

        def report(type: str | None, raw: RawObject) -> None:
            if indexes and type is None and not self._indexed.is_set():
                self._unindexed.add(uid_of(raw))
            workers.report(type, raw)

        def listed() -> None:
            self._unlisted.discard(key)
            self._check_indexed()

        watcher = ResourceWatch(
            self._shared.rest, resource, namespace, report,
            self._environment.random, listed=listed,
        )  # fmt: skip
        self._followed[key] = _Followed(workers, self._group.create_task(watcher.run()))

    async def _leave(self, key: tuple[Resource, str]) -> None:
        followed = self._followed.pop(key)
        followed.task.cancel()
        await asyncio.wait({followed.task})
        await followed.workers.stop()
        self._unlisted.discard(key)

    def _watch(self, resource: Resource, namespace: str, report: Any) -> None:
        """Follow something of the operator's own."""
        rest, random = self._shared.rest, self._environment.random
        watcher = ResourceWatch(rest, resource, namespace, report, random)
        self._helpers.append(self._group.create_task(watcher.run()))

    def _forget_unindexed(self, uid: str) -> None:
        if self._unindexed:
            self._unindexed.discard(uid)
            self._check_indexed()

    def _check_indexed(self) -> None:
        """Let handlers be called once all that was there is in the indexes."""
        if not self._unlisted and not self._unindexed:
            self._indexed.set()


def _plain(pattern: str) -> bool:
    return not set(pattern) & set("*?[!,")


def _matches(name: str, pattern: str) -> bool:
    """Whether a namespace is meant by globs with commas between; one with `!` takes it out."""
    matched = False
    for number, each in enumerate(part.strip() for part in pattern.split(",")):
        if each.startswith("!"):
            matched = (matched or number == 0) and not fnmatch(name, each[1:])
        else:
            matched = matched or fnmatch(name, each)
    return matched
