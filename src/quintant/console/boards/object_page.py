"""The page of one object: what it is, its conditions in words, events, children, and its history.

It follows the object by its name; one that is gone says so until a namesake comes, which is
another object and begins afresh.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from quintant.console.boards.children import Children
from quintant.console.boards.conditions import condition_row
from quintant.console.boards.crd_panel import judge_plain, read_conditions
from quintant.console.boards.definitions import Definitions
from quintant.console.boards.events import BUILT_IN, EventsBoard, event_row
from quintant.console.history import ObjectHistory
from quintant.console.links import CORE, NO_NAMESPACE, cut, is_simulated
from quintant.console.publisher import Publisher
from quintant.console.redact import redacted
from quintant.console.sources import AnyChange, Informers, Sources
from quintant.console.topics import AccessScope, Topic, TopicRow
from quintant.console.views import ConsoleObject, console_kind
from quintant.core.clock import timestamp
from quintant.core.resource import Resource
from quintant.core.yaml.dump import to_yaml
from quintant.runtime.observe.system_panel import ObjectState

YAML_LENGTH = 200_000
"""Characters of an object that are shown; longer ones are cut."""
MOST_EVENTS = 50
MOST_CHANGES = 100


class ObjectBoard:
    """The topic of one object."""

    def __init__(
        self,
        name: str,
        resource: Resource,
        key: tuple[str, str],
        maker: ObjectMaker,
    ) -> None:
        self._resource, self._maker, self._namespace = resource, maker, key[0]
        self._scope = AccessScope(resource.group, resource.plural, key[0])
        self.topic: Topic = Topic(name, self._scope)
        self._object: ConsoleObject | None = None
        self._deleted: str | None = None
        self._children: Children | None = None
        self._known = asyncio.Event()
        self._informers: Informers = maker.sources.open_informers()
        self._informers.add(
            console_kind(resource),
            self._heard,
            on_synced=self._synced,
            namespaces=(key[0],) if key[0] else (),
            fields={"metadata.name": key[1]},
        )
        self._stops = (maker.history.on_change(self._mark), maker.events.on_flush(self._mark))

    async def ready(self) -> None:
        """Return when it is known whether the object is there."""
        await self._known.wait()

    def close(self) -> None:
        """Follow no more."""
        self._informers.close()
        for stop in self._stops:
            stop()
        if self._children is not None:
            self._children.close()

    def flush(self) -> None:
        obj = self._object
        if obj is None:
            self.topic.replace({})
            return
        plain, uid = obj.plain(), obj.metadata.uid
        status = plain.get("status")
        conditions = read_conditions(status.get("conditions") if isinstance(status, dict) else None)
        docs = self._maker.docs_of(self._resource)
        fields = self._fields(obj)
        rows = {"object": TopicRow(fields, self._scope)}
        for each in conditions:
            shown = condition_row(each, docs, fields["state"])
            rows[f"condition/{cut(each.type, 200)}"] = TopicRow(shown, self._scope)
        found = self._maker.events.of(uid)[:MOST_EVENTS]
        rows |= {f"event/{each.metadata.uid}": event_row(each) for each in found}
        if self._children is not None:
            rows |= self._children.rows()
        self.topic.replace(rows | self._changes(uid))

    def _fields(self, obj: ConsoleObject) -> dict[str, Any]:
        meta, plain = obj.metadata, obj.plain()
        state, sentence = self._maker.judge(self._resource, obj) or judge_plain(plain)
        if self._deleted is not None:
            state, sentence = "unknown", f"deleted at {self._deleted}"
        return {
            "kind": self._resource.kind, "namespace": meta.namespace, "name": meta.name,
            "uid": meta.uid, "created": meta.creation_timestamp or "", "deleted": self._deleted,
            "state": state, "sentence": cut(sentence),
            "yaml": cut(to_yaml([redacted(plain)]), YAML_LENGTH),
            "labels": {key: cut(value) for key, value in meta.labels.items()},
            "annotations": {
                key: cut(str(value)) for key, value in redacted(_annotations(plain)).items()
            },
            "simulated": is_simulated(meta),
        }  # fmt: skip

    def _changes(self, uid: str) -> dict[str, TopicRow]:
        return {
            f"change/{each.number}": TopicRow(
                {"time": each.time, "field": each.field, "old": each.old, "new": each.new,
                 "manager": each.manager},
                self._scope,
            )
            for each in self._maker.history.of(uid)[-MOST_CHANGES:]
        }  # fmt: skip

    def _heard(self, change: AnyChange) -> None:
        new, old = change.new, change.old
        if not self._maker.sources.follows_whole(self._resource):
            self._maker.history.record(self._resource, change)
        if new is None:
            gone = self._object is not None and old is not None
            if gone and old.metadata.uid == self._object.metadata.uid:  # type: ignore[union-attr]
                self._deleted = timestamp(self._maker.publisher.clock.now())
        else:
            if self._object is None or self._object.metadata.uid != new.metadata.uid:
                self._adopt(new)
            self._object, self._deleted = new, None
        self._mark()
        self.flush()
        self._known.set()

    def _adopt(self, obj: ConsoleObject) -> None:
        """Look for the children of an object that was not there before."""
        if self._children is not None:
            self._children.close()
        self._children = Children(
            self._maker.sources, self._namespace, obj.metadata.uid, self._mark
        )

    def _synced(self) -> None:
        if not self._known.is_set():
            self.flush()
            self._known.set()

    def _mark(self) -> None:
        self._maker.publisher.mark(self)


def _annotations(plain: dict[str, Any]) -> dict[str, Any]:
    meta = plain.get("metadata")
    found = meta.get("annotations") if isinstance(meta, dict) else None
    return found if isinstance(found, dict) else {}


class ObjectMaker:
    """Makes the pages of objects, of kinds that may be shown."""

    def __init__(
        self,
        publisher: Publisher,
        sources: Sources,
        definitions: Definitions,
        events: EventsBoard,
        history: ObjectHistory,
    ) -> None:
        self.publisher = publisher
        self.sources = sources
        self.events = events
        self.history = history  # fmt: skip
        self._definitions = definitions

    def make(self, name: str, parts: Sequence[str]) -> ObjectBoard | None:
        """The page of group, version, plural, namespace and name; None if none may be shown."""
        if len(parts) != 5 or not all(parts):
            return None
        group, version, plural, namespace, object_name = parts
        resource = self._resource("" if group == CORE else group, version, plural)
        if resource is None or resource.namespaced is (namespace == NO_NAMESPACE):
            return None
        key = ("" if namespace == NO_NAMESPACE else namespace, object_name)
        return ObjectBoard(name, resource, key, self)

    def judge(self, resource: Resource, obj: ConsoleObject) -> tuple[ObjectState, str] | None:
        """State and sentence as the kind's panel has them; None if it has no panel."""
        kind = self._definitions.kind_of(resource)
        if kind is None:
            return None
        row = kind.row(obj)
        return row.state, row.sentence

    def docs_of(self, resource: Resource) -> str:
        """The page of the docs that a kind is explained on."""
        return self._definitions.docs_of(resource)

    def _resource(self, group: str, version: str, plural: str) -> Resource | None:
        built_in = {(each.group, each.plural): each for each in BUILT_IN.values()}
        key = (group, plural)
        known = self._definitions.kinds().get(key) or built_in.get(key)
        return known if known is not None and known.version == version else None
