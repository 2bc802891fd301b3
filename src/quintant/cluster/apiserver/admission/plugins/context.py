"""What the server's own admission looks at beside the object itself."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.clock import Random

M = TypeVar("M")


class AdmissionContext(Struct, frozen=True):
    """The other objects, and chance."""

    store: RevisionStore
    random: Random

    def get(self, table: str, key: str, model: type[M]) -> M | None:
        """What a model declares of an object; None if there is none."""
        entry = self.store.table(table).entries.get(key)
        return None if entry is None else stored_json.read(entry, model)

    def list_all(self, table: str, model: type[M]) -> list[M]:
        """What a model declares of every object of a table."""
        return self.list_in(table, "", model)

    def list_in(self, table: str, namespace: str, model: type[M]) -> list[M]:
        """What a model declares of the objects of a namespace, or of all if that is empty."""
        prefix = f"{namespace}/" if namespace else ""
        return [
            stored_json.read(entry, model) for _, entry in self.store.table(table).now.scan(prefix)
        ]
