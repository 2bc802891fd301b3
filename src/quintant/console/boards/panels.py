"""Panels: the objects of one system as rows, its kinds coming and going."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar, cast

from msgspec import Struct

from quintant.console.links import (
    CELL_LENGTH,
    cut,
    docs_link,
    is_simulated,
    object_link,
    safe_url,
)
from quintant.console.publisher import Publisher
from quintant.console.sources import AnyChange, Sources
from quintant.console.topics import AccessScope, Topic, TopicRow
from quintant.console.views import ConsoleObject
from quintant.core import codec
from quintant.core.errors import Undecodable
from quintant.core.object import Request
from quintant.core.resource import Resource, resource_of
from quintant.runtime.observe.system_panel import (
    STATES,
    ObjectState,
    PanelColumn,
    PanelKind,
    PanelPlot,
    PanelRow,
    SystemPanel,
)

MOST_BROKEN = 5
"""Broken objects that the overview names."""
SENTENCE_LENGTH = 500
MOST_SHARED = 10_000
"""Sentences and figures that are held once for all rows that have them."""

S = TypeVar("S")


class ShownKind(Struct, frozen=True):
    """A kind that is served now, and how its objects become rows."""

    resource: Resource
    columns: tuple[PanelColumn, ...]
    row: Callable[[ConsoleObject], PanelRow]


class ShownObject(Struct, frozen=True, gc=False):
    """What is kept of a row, for the overview."""

    state: ObjectState
    resource: Resource
    key: Request
    sentence: str
    figures: tuple[tuple[str, float], ...]

    @property
    def title(self) -> str:
        """Kind and name."""
        return f"{self.resource.kind} {self.key}"

    @property
    def link(self) -> str:
        """The object's page."""
        return object_link(self.resource, self.key.name, self.key.namespace)


def typed_kind(kind: PanelKind) -> ShownKind:
    """A kind that an operator's panel makes rows of."""

    def row(obj: ConsoleObject) -> PanelRow:
        try:
            found = kind.row(codec.decode(kind.kind, obj.content))
        except Undecodable as error:
            return PanelRow("unknown", f"it does not fit its type: {error.why}")
        except Exception as error:  # a panel may be a stranger's: one object is not all of them
            return PanelRow("unknown", f"its panel fails on it: {type(error).__name__}")
        known = isinstance(found, PanelRow) and found.state in STATES
        return found if known else PanelRow("unknown", "its panel makes no row of it")

    return ShownKind(resource_of(kind.kind), kind.columns, row)


class SystemBoard:
    """The topic of one system."""

    def __init__(
        self,
        name: str,
        title: str,
        publisher: Publisher,
        sources: Sources,
        *,
        install: str = "",
        docs: str = "",
        plots: tuple[PanelPlot, ...] = (),
    ) -> None:
        self.name = name
        self.title = title
        self.install = install
        self.docs = docs
        self.plots = plots
        self.kinds: dict[Resource, ShownKind] = {}
        self.topic: Topic = publisher.add(Topic(f"panel/{name}"))
        self.objects: dict[str, ShownObject] = {}
        self.counts: Counter[str] = Counter()
        self._publisher, self._sources = publisher, sources
        self._changed: dict[str, tuple[Resource, ConsoleObject | None]] = {}
        self._subscribed: set[Resource] = set()
        self._listeners: list[Callable[[], None]] = []
        self._shared: dict[Any, Any] = {}
        self._publisher.mark(self)

    @property
    def installed(self) -> bool:
        """Whether the server serves a kind of it."""
        return bool(self.kinds)

    def show(self, kind: ShownKind) -> None:
        """Show the objects of a kind from now on."""
        before = self.kinds.get(kind.resource)
        self.kinds[kind.resource] = kind
        if kind.resource not in self._subscribed:
            self._subscribed.add(kind.resource)
            self._sources.subscribe(kind.resource, self._heard)
        self._sources.follow(kind.resource)
        if before is not None and before != kind:
            for obj in self._sources.objects(kind.resource):
                self._changed[obj.metadata.uid] = kind.resource, obj
        self._publisher.mark(self)

    def hide(self, resource: Resource) -> None:
        """Show a kind no more."""
        if self.kinds.pop(resource, None) is not None:
            self._sources.unfollow(resource)
            self._publisher.mark(self)

    def on_flush(self, listener: Callable[[], None]) -> None:
        """Hear whenever rows may have changed."""
        self._listeners.append(listener)

    def broken(self) -> list[ShownObject]:
        """The first few that need a person."""
        if not self.counts["broken"]:
            return []
        found = (each for each in self.objects.values() if each.state == "broken")
        return [each for each, _ in zip(found, range(MOST_BROKEN), strict=False)]

    def figure(self, plot: PanelPlot) -> float | None:
        """The present value of a plot; None if no object has one."""
        values = [
            value
            for each in self.objects.values()
            for name, value in each.figures
            if name == plot.name
        ]
        if not values:
            return None
        return max(values) if plot.merge == "max" else sum(values)

    def flush(self) -> None:
        changed, self._changed = self._changed, {}
        rows: dict[str, TopicRow] = {}
        for uid, (resource, obj) in changed.items():
            kind = self.kinds.get(resource)
            if obj is None or kind is None:
                self._forget(uid)
            else:
                rows[uid] = self._row(kind, obj)
        removed = [uid for uid in changed if uid not in rows]
        if self.topic.publish(rows, removed, self._meta()):
            for listener in self._listeners:
                listener()

    def _heard(self, resource: Resource, change: AnyChange) -> None:
        if change.old is not None and change.new is None:
            self._changed[change.old.metadata.uid] = resource, None
        elif change.new is not None:
            self._changed[change.new.metadata.uid] = resource, change.new
        self._publisher.mark(self)

    def _row(self, kind: ShownKind, obj: ConsoleObject) -> TopicRow:
        found, meta, resource = kind.row(obj), obj.metadata, kind.resource
        sentence = self._share(cut(found.sentence, SENTENCE_LENGTH))
        figures = self._share(tuple(found.figures.items()))
        shown = ShownObject(found.state, resource, obj.key, sentence, figures)
        self._remember(meta.uid, shown)
        fields = {
            "uid": meta.uid, "kind": resource.kind, "namespace": meta.namespace,
            "name": meta.name, "state": found.state, "sentence": sentence,
            "cells": [cut(each, CELL_LENGTH) for each in found.cells], "link": shown.link,
            "url": safe_url(found.url), "simulated": is_simulated(meta),
            "created": meta.creation_timestamp or "",
        }  # fmt: skip
        return TopicRow(fields, AccessScope(resource.group, resource.plural, meta.namespace))

    def _share(self, value: S) -> S:
        """The same value that other rows hold: thousands have one sentence."""
        if len(self._shared) >= MOST_SHARED:
            self._shared.clear()
        return cast("S", self._shared.setdefault(value, value))

    def _remember(self, uid: str, row: ShownObject) -> None:
        self._forget(uid)
        self.objects[uid] = row
        self.counts[row.state] += 1

    def _forget(self, uid: str) -> None:
        before = self.objects.pop(uid, None)
        if before is not None:
            self.counts[before.state] -= 1

    def _meta(self) -> dict[str, Any]:
        kinds = [
            {"kind": each.resource.kind, "plural": each.resource.plural, "columns": each.columns}
            for each in self.kinds.values()
        ]
        return {
            "title": self.title, "kinds": kinds, "installed": self.installed,
            "install": self.install, "docs": self.docs,
        }  # fmt: skip


def operator_board(
    panel: SystemPanel, publisher: Publisher, sources: Sources, *, documented: bool = False
) -> SystemBoard:
    """The board of an operator, none of whose kinds is known to be served yet."""
    ours = panel.install is None
    return SystemBoard(
        panel.name,
        panel.title,
        publisher,
        sources,
        install=f"kubectl apply -k deploy/{panel.name}" if ours else panel.install or "",
        docs=docs_link(panel.name) if documented else "",
        plots=panel.plots,
    )
