"""A client that stores ConfigMaps, with the answers an API server gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from quintant.api.core import ConfigMap
from quintant.core.errors import Cause, Conflict, Details, Invalid, Status
from quintant.core.object import K, Object, ObjectMeta, Request, replace
from unit.runtime.apply.fleet import Fleet, fleet, sinking, stored


class StubClient:
    """Objects by key. `writes` counts what reached it, `held` delays deletions for ever."""

    def __init__(self, *objects: ConfigMap, held: bool = False) -> None:
        self.objects = {obj.key: obj for obj in objects}
        self.writes: list[str] = []
        self.held = held
        self.owners = {each.key: each for each in (fleet(), fleet("other", "uid-other"))}
        """What the server knows of those whose children they are."""

    def __getitem__(self, name: str) -> ConfigMap:
        return self.objects[Request(name, "sea")]

    def list(self) -> tuple[ConfigMap, ...]:
        return tuple(self.objects.values())

    def names(self) -> set[str]:
        return {key.name for key in self.objects}

    async def find(
        self, kind: type[K], name: str, namespace: str = "", *, live: bool = False
    ) -> K | None:
        assert live
        if kind is Fleet:
            return cast(K | None, self.owners.get(Request(name, namespace)))
        return cast(K | None, self.objects.get(Request(name, namespace)))

    async def apply(self, obj: K, *, force: bool = True) -> K:
        assert isinstance(obj, ConfigMap)
        old = self.objects.get(obj.key)
        if old is None and obj.metadata.uid:
            raise Conflict(Status(code=409, reason="Conflict", message="no existing object"))
        if old is not None and obj.metadata.uid not in ("", old.metadata.uid):
            raise refused("metadata.uid", "field is immutable")
        if old is not None and old.immutable and old.data != obj.data:
            raise refused("data", "field is immutable when `immutable` is set")
        if "bad" in obj.data:
            raise refused("data", "a config map may not hold this")
        self.writes.append(f"apply {obj.metadata.name}{' by force' if force else ''}")
        uid = old.metadata.uid if old else f"uid-{len(self.writes)}"
        self.objects[obj.key] = stored(replace(obj, metadata=replace(obj.metadata, uid=uid)))
        return cast(K, self.objects[obj.key])

    async def json_patch(
        self, kind: type[Object], meta: ObjectMeta, operations: Sequence[Mapping[str, Any]]
    ) -> None:
        live = self.objects[Request(meta.name, meta.namespace)]
        self.writes.append(f"amend {meta.name}")
        if any(each["op"] == "test" and each["value"] != "7" for each in operations):
            raise refused("metadata.resourceVersion", "testing failed")
        gone = {each["path"].removeprefix("/data/") for each in operations}
        data = {key: text for key, text in live.data.items() if key not in gone}
        self.objects[live.key] = replace(live, data=data)

    async def delete(self, obj: Object, *, foreground: bool = False) -> None:
        self.writes.append(f"delete {obj.metadata.name}{' in foreground' if foreground else ''}")
        live = self.objects.get(obj.key)
        if live is None:
            return
        if live.metadata.uid != obj.metadata.uid:
            raise Conflict(Status(code=409, reason="Conflict", message="precondition failed"))
        if self.held:
            self.objects[obj.key] = sinking(live)
        else:
            del self.objects[obj.key]


def refused(field: str, message: str) -> Invalid:
    cause = Cause(reason="FieldValueInvalid", message=f"Invalid value: {message}", field=field)
    return Invalid(Status(code=422, reason="Invalid", details=Details(causes=(cause,))))
