"""An informer that holds its process's own part of a kind, and knows of the rest that it is there.

    watch ──skim──> foreign? ──yes──> name and controller
                       └──no──> decoded ──keep?──> store, and handlers hear of it

Everything is received, and nothing else is filtered: bookmarks, errors, versions and `continue`
pass as they are. What is held follows the ranges: `evict` drops what is another member's from now
on, and no handler hears of it, for nothing has happened to it; `read_anew` brings what became ours.
Until then an object that is held is followed, whoever's it is.
"""

from __future__ import annotations

import asyncio

from quintant.core.errors import NotHeld
from quintant.core.object import K, Request
from quintant.core.owner import owner_uid_of
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.cache.partial.foreign import ForeignObjects
from quintant.runtime.cache.partial.keep_rules import KeepRule, KeepRules
from quintant.runtime.cache.partial.skim import Skimmed, Skimmer, skim
from quintant.runtime.watch.reflector import Reflector
from quintant.runtime.watch.reflector_target import InitialState
from quintant.runtime.watch.watch_events import ForeignEvent


class PartialInformer(Informer[K]):
    """A local copy of those objects of a kind that are ours, or nobody's."""

    foreign: ForeignObjects

    def _begin(self) -> None:
        self.foreign = ForeignObjects()
        self._rules = KeepRules()
        self.skimmer: Skimmer = Skimmer(self._is_foreign, self._rules.decodes)
        super()._begin()

    def _reflector(self, namespace: str) -> Reflector[K]:
        reflector = super()._reflector(namespace)
        reflector.foreign = self
        return reflector

    @property
    def whole(self) -> bool:
        """Whether it holds all objects there are, as somebody demands."""
        return self._rules.whole

    def add_rule(self, rule: KeepRule | None) -> None:
        """One more declaration of the kind, and how it maps objects to keys; None: it needs all."""
        self._rules.add(rule)

    def get(self, key: Request) -> K | None:
        found = super().get(key)
        if found is None and key in self.foreign:
            raise NotHeld(self.resource.kind, str(key))
        return found

    async def read_anew(self) -> None:
        """Return when everything has been read by a consistent read that began after the call."""
        async with asyncio.TaskGroup() as group:
            for reflector in self.reflectors:
                group.create_task(reflector.read_anew(lambda: self.absent))

    def evict(self) -> None:
        """Drop what is not ours any more; nobody hears of it."""
        if self.whole:
            return
        for key in self._known():
            obj = self.overlay.delivered(key) or self.store.get(key)
            if obj is not None and not self._rules.keep(obj):
                self._drop(key, obj)
        for key, unfit in list(self.undecodable.items()):
            if self._rules.skims(skimmed := skim(unfit.meta)):
                del self.undecodable[key]
                self.foreign.note(key, owner_uid_of(skimmed))  # type: ignore[arg-type]

    def note_foreign(self, event: ForeignEvent) -> None:
        """An object that is not held here was changed, or is gone."""
        if self.undecodable:
            self.undecodable.pop(event.key, None)
        if event.deleted:
            self.foreign.discard(event.key)
        else:
            self.foreign.note(event.key, event.controller)

    def replace(self, namespace: str, state: InitialState[K]) -> None:
        for key, obj in list(state.objects.items()):
            if not self._is_followed(key, obj):
                del state.objects[key]
                state.foreign[key] = owner_uid_of(obj)
                self._leave(key, obj)
        state.gained = frozenset(key for key in state.objects if key in self.foreign)
        shown = self.store.get
        foreign = {key: uid for key, uid in state.foreign.items() if shown(key) is None}
        self.foreign.replace(namespace, foreign)
        super().replace(namespace, state)
        self._by_namespace[namespace].note_read()

    def upsert(self, obj: K) -> None:
        if not (self._rules.keep(obj) or self._is_followed(obj.key, obj)):
            self._leave(obj.key, obj)
            return
        if self.foreign.by_namespace:
            self.foreign.discard(obj.key)
        super().upsert(obj)

    def delete(self, obj: K) -> None:
        self.foreign.discard(obj.key)
        super().delete(obj)

    def record_write(self, obj: K) -> None:
        if self._rules.keep(obj) or self._is_followed(obj.key, obj):
            super().record_write(obj)

    def _is_foreign(self, skimmed: Skimmed, key: Request) -> bool:
        """Whether an object is left to others, and was not held so far."""
        if key in self._ahead or self.store.get(key) is not None:
            return False
        return not self._rules.decide(skimmed)

    def _is_followed(self, key: Request, obj: K) -> bool:
        """Whether an object is held: it is ours, or its range is lost and it goes in a moment."""
        if self._rules.keep(obj):
            return True
        old = self.overlay.delivered(key) or self.store.get(key)
        return old is not None and not self._rules.keep(old)

    def _leave(self, key: Request, obj: K) -> None:
        """An object maps to others now; whoever it mapped to so far hears of the change."""
        old = self.overlay.delivered(key) or self.store.get(key)
        self._drop(key, obj)
        if old is not None:
            self._deliver(ObjectChange(old, obj))

    def _drop(self, key: Request, obj: K) -> None:
        self.overlay.drop(key)
        self.undecodable.pop(key, None)
        self.managed.forget(obj.metadata.uid)
        self.foreign.note(key, owner_uid_of(obj))
