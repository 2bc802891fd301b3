"""A write on its way to the store: which object it is about, and what it has become so far."""

from __future__ import annotations

import msgspec

from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.core.errors import Cause


class ObjectRef(msgspec.Struct, frozen=True):
    """What a request is about: a kind, a place in it, the whole object or a subresource."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> str:
        return self.kind.key(self.namespace, self.name)

    def with_name(self, name: str) -> ObjectRef:
        """The same, with another name."""
        return ObjectRef(self.kind, self.namespace, name, self.subresource)


class Draft(msgspec.Struct, frozen=True):
    """An object as it shall be; without a `base` it is a new one."""

    target: ObjectRef
    obj: JsonObject
    warnings: tuple[str, ...] = ()
    base: StoredEntry | None = None
    live: JsonObject | None = None
    sent_kind: str = ""
    """The kind that a client said a custom resource is of."""
    has_resource_version: bool = False
    """It is new, and says a resourceVersion."""
    create_on_update: bool = False
    """It is new, and its request was an update or an apply: that takes two permissions."""
    others_read_at: int | None = None
    """The revision at which other objects of the kind were looked at for it, if they were."""
    update_errors: tuple[Cause, ...] = ()
    """What it tried to change and may not."""

    @property
    def label(self) -> str:
        """What a refusal calls its object: by its name, or by what one will be made from."""
        metadata = self.obj["metadata"]
        name: str = metadata.get("name") or metadata.get("generateName") or "Unknown"
        return name
