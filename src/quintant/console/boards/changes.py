"""What changed in the last ten minutes, in one namespace or in all: one list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import islice

from quintant.console.history import ChangeRecord, ObjectHistory
from quintant.console.links import NO_NAMESPACE, object_link
from quintant.console.publisher import Publisher
from quintant.console.topics import AccessScope, Topic, TopicRow
from quintant.core.clock import timestamp

WINDOW = timedelta(minutes=10)
MOST_CHANGES = 1000
"""Changes of one list; older ones are on the pages of their objects."""


class ChangesBoard:
    """The topic of one namespace's changes."""

    def __init__(
        self, name: str, namespace: str, publisher: Publisher, history: ObjectHistory
    ) -> None:
        self.topic: Topic = Topic(name)
        self._namespace, self._publisher, self._history = namespace, publisher, history
        self._stop = history.on_change(lambda: publisher.mark(self))
        self._publisher.every_beat(self._mark)
        self.flush()

    async def ready(self) -> None:
        """It is, from the beginning."""

    def close(self) -> None:
        """Follow no more."""
        self._stop()
        self._publisher.no_more_beats(self._mark)

    def flush(self) -> None:
        since = timestamp(self._publisher.clock.now() - WINDOW)
        found = (
            each
            for each in self._history.since(since)
            if not self._namespace or each.namespace == self._namespace
        )
        self.topic.replace({str(each.number): _row(each) for each in islice(found, MOST_CHANGES)})

    def _mark(self) -> None:
        self._publisher.mark(self)


class ChangesMaker:
    """Makes the lists."""

    def __init__(self, publisher: Publisher, history: ObjectHistory) -> None:
        self._publisher, self._history = publisher, history

    def make(self, name: str, parts: Sequence[str]) -> ChangesBoard | None:
        """The list of a namespace, or of all for a dash."""
        if len(parts) != 1 or not parts[0]:
            return None
        namespace = "" if parts[0] == NO_NAMESPACE else parts[0]
        return ChangesBoard(name, namespace, self._publisher, self._history)


def _row(record: ChangeRecord) -> TopicRow:
    resource = record.resource
    fields = {
        "time": record.time, "kind": resource.kind, "namespace": record.namespace,
        "name": record.name, "field": record.field, "old": record.old, "new": record.new,
        "manager": record.manager,
        "link": object_link(resource, record.name, record.namespace),
    }  # fmt: skip
    return TopicRow(fields, AccessScope(resource.group, resource.plural, record.namespace))
