"""Kinds that appear later, followed by a pattern of their names: `"*.shops.example.com"`.

    definitions ──served and matching──> an informer per kind ──to(object)──> keys ──> queue

A kind is followed from when its definition is served until it is not, as a dynamic kind: in the
version that it is stored in, or else the first that is served. When it goes, or is followed in
another version, the keys of its objects are woken. It runs with its controller, on the leader only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from quintant.api.apiextensions import (
    CustomResourceDefinition,
    CustomResourceDefinitionNames,
)
from quintant.api.meta import Condition
from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.core.dynamic import Unstructured, dynamic
from quintant.core.errors import ConfigError
from quintant.core.object import Model, Object, Request
from quintant.core.resource import projection
from quintant.runtime.cache.follow import watch_changes
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.source.sources import MisusedSource, SourceContext
from quintant.runtime.watch.scope import WatchScope
from quintant.runtime.workqueue.workqueue import LOW_PRIORITY

MOST_KINDS = 500
"""Followed at once: each is a watch, and holds all its objects."""

log: Final = get_logger()
KeysOf: TypeAlias = Callable[[Unstructured], Iterable[Request]]


class _Version(Model):
    name: str
    served: bool
    storage: bool


class _Spec(Model):
    group: str
    names: CustomResourceDefinitionNames
    scope: str
    versions: tuple[_Version, ...]


class _Status(Model):
    conditions: tuple[Condition, ...] | None = None


@projection(of=CustomResourceDefinition)
class MatchingDefinition(Object):
    """A definition without its schemas, which are the most of it."""

    spec: _Spec
    status: _Status = _Status()

    def kind(self) -> type[Unstructured] | None:
        """The class of its kind; None while it is not served."""
        conditions = self.status.conditions or ()
        served = [each for each in self.spec.versions if each.served]
        if not served or not any(
            each.type == "Established" and each.status == "True" for each in conditions
        ):
            return None
        version = next((each for each in served if each.storage), served[0])
        names = self.spec.names
        return dynamic(
            f"{self.spec.group}/{version.name}",
            names.kind,
            plural=names.plural,
            namespaced=self.spec.scope == "Namespaced",
        )


@dataclass
class _FollowedKind:
    """A kind, its cache, and what keeps that true."""

    informer: Informer[Unstructured]
    task: asyncio.Task[None]


class MatchingKinds:
    """A source for `.on`: every object of every kind that matches wakes the keys of `to`.

    `pattern` is of full names, `plural.group`, with `*` for any part. The role has to allow get,
    list and watch on those kinds, and on definitions; what it does not allow is tried again.
    """

    def __init__(self, pattern: str, to: KeysOf, *, namespaces: Sequence[str] = ()) -> None:
        if "." not in pattern or any(mark in pattern for mark in " /"):
            raise ConfigError(
                f"{pattern!r} matches no kind",
                because="a kind is called by its plural and its group",
                hint='MatchingKinds("*.example.com", to=…)',
            )
        self._pattern, self._to, self._namespaces = pattern, to, tuple(namespaces)
        self._followed: dict[str, _FollowedKind] = {}
        self._running = False

    @property
    def kinds(self) -> list[type[Unstructured]]:
        """The kinds that are followed now."""
        return [each.informer.kind for each in self._followed.values()]

    def objects(self, kind: type[Unstructured]) -> list[Unstructured]:
        """The objects of a kind that is followed, as last seen; none of any other."""
        found = [each for each in self._followed.values() if each.informer.kind is kind]
        return list(found[0].informer.store) if found else []

    async def __call__(self, context: SourceContext) -> None:
        """Follow definitions for as long as the controller runs; a source."""
        rest = context.rest
        if rest is None or self._running:
            raise MisusedSource(
                "MatchingKinds is given to two controllers",
                because="each has keys of its own",
                hint="make one for each",
            )
        self._running = True
        try:
            async with asyncio.TaskGroup() as group:
                scope = WatchScope(MatchingDefinition)
                async for change in watch_changes(rest, scope, context.random):
                    self._take(change, context, rest, group)
        finally:
            self._running, self._followed = False, {}

    def _take(
        self,
        change: ObjectChange[MatchingDefinition],
        context: SourceContext,
        rest: Rest,
        group: asyncio.TaskGroup,
    ) -> None:
        definition = change.new or change.old
        assert definition is not None, "a change is of something"
        name = definition.metadata.name
        if not fnmatchcase(name, self._pattern):
            return
        kind = change.new.kind() if change.new is not None else None
        known = self._followed.get(name)
        if known is not None and known.informer.kind is not kind:
            self._end(name, context)
        if kind is not None and name not in self._followed:
            self._begin(name, kind, context, rest, group)

    def _begin(
        self,
        name: str,
        kind: type[Unstructured],
        context: SourceContext,
        rest: Rest,
        group: asyncio.TaskGroup,
    ) -> None:
        if len(self._followed) >= MOST_KINDS:
            log.error("a kind is not followed", kind=name, why=f"{MOST_KINDS} match already")
            return
        informer = _informer(rest, kind, context.random, self._namespaces)
        informer.subscribe(lambda change: self._wake(change, context))
        self._followed[name] = _FollowedKind(informer, group.create_task(informer.run()))
        log.info("following a kind", kind=name)

    def _end(self, name: str, context: SourceContext) -> None:
        gone = self._followed.pop(name)
        gone.task.cancel()
        for obj in gone.informer.store:
            self._wake(ObjectChange(obj, None), context)
        log.info("a kind is not followed any more", kind=name)

    def _wake(self, change: ObjectChange[Unstructured], context: SourceContext) -> None:
        for obj in (change.old, change.new):
            if obj is None:
                continue
            try:
                keys = list(self._to(obj))
            except Exception:
                # What a user's function raises must end neither this watch nor the others.
                context.count_failure()
                log.exception("a mapper failed", kind=type(obj).__name__, object=str(obj.key))
                continue
            for key in keys:
                if change.initial:
                    context.queue.add(key, priority=LOW_PRIORITY)
                else:
                    context.queue.add(key)


def _informer(
    rest: Rest, kind: type[Unstructured], random: Random, namespaces: Sequence[str]
) -> Informer[Unstructured]:
    informer = Informer(rest, kind, random=random, namespaces=namespaces)
    # Its definition may go before we hear of it.
    informer.optional = True
    return informer
