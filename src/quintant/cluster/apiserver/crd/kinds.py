"""customresource.NewStorage: a kind for each served version, and how its objects are stored.

Every served version is a kind; all of them share what is stored, which is of one version at a
time. An object that was stored earlier may be of another (`StorageEpochs`): it gets the defaults of
what it was stored as, and is then shown as what is asked for. Pure;
quintant.cluster.apiserver.reconcilers.crd_lifecycle acts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from quintant.cluster.apiserver.crd.compiled import (
    CompiledSchema,
    LazyMergeSchema,
    compile_schema,
)
from quintant.cluster.apiserver.crd.conversion_webhook import (
    Converter,
    convert_for_read,
    convert_for_write,
)
from quintant.cluster.apiserver.crd.definition import (
    PRESERVE_ALL,
    scale_of,
    schema_of,
    storage_version,
    versions,
)
from quintant.cluster.apiserver.crd.strategy import CustomSchema
from quintant.cluster.apiserver.kinds.kind import FieldLabels, Kind, KindNames
from quintant.cluster.apiserver.kinds.strategy import ConversionStrategy
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.version_order import version_priority
from quintant.cluster.apiserver.structuredmerge.schema import DEDUCED
from quintant.core.resource import Resource


class StorageEpochs(msgspec.Struct, frozen=True):
    """What objects were stored as until when: revisions in order, each with a version's name."""

    ends: tuple[tuple[int, str], ...] = ()
    since: int = 0
    """Nothing was written after this revision but as the definition says now."""

    def version(self, rv: int) -> str:
        """What an object of a revision was stored as; empty if as it would be now."""
        return next((version for end, version in self.ends if 0 < rv <= end), "")


def custom_kinds(
    crd: JsonObject, epochs: StorageEpochs = StorageEpochs(), converter: Converter | None = None
) -> list[Kind]:
    """The kinds a definition serves; with a converter, its versions differ by more than a name."""
    history = _History(crd, epochs, converter)
    served = [_kind(crd, each, history) for each in versions(crd) if each.get("served")]
    return served if converter is None else [_waiting(kind, crd, history) for kind in served]


def _waiting(kind: Kind, crd: JsonObject, history: _History) -> Kind:
    """A kind whose objects have to be converted before they are shown or stored."""
    apart = kind.resource.version != history.storage
    conversion = replace(
        kind.strategy.conversion,
        convert_for_read=partial(convert_for_read, kind),
        convert_for_write=partial(convert_for_write, kind) if apart else None,
    )
    return replace(
        kind,
        strategy=replace(kind.strategy, conversion=conversion),
        storage_kind=_kind(crd, storage_version(crd), history) if apart else None,
    )


def storage_kind(crd: JsonObject) -> Kind:
    """The kind whose objects are those that are stored, served or not."""
    return _kind(crd, storage_version(crd), _History(crd, StorageEpochs(), None))


def field_values(crd: JsonObject) -> dict[str, str]:
    """What objects can be selected by at any version, each with its value when absent."""
    return {path: "" for each in versions(crd) for path in _selectable(each)}


class _History:
    """The schemas of a definition, and which of them an object was stored with."""

    def __init__(self, crd: JsonObject, epochs: StorageEpochs, converter: Converter | None) -> None:
        self.epochs = epochs
        self.converter = converter
        self._group, self._kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
        self.storage = storage_version(crd)["name"]
        self._compiled = {
            each["name"]: compile_schema(schema_of(each), scale_of(each)) for each in versions(crd)
        }
        self.values = field_values(crd)
        self.best = _best(versions(crd))

    def schema(self, version: str) -> CustomSchema:
        return self._compiled[version].custom

    def compiled(self, version: str) -> CompiledSchema:
        return self._compiled[version]

    def alike(self, version: str) -> bool:
        """Whether a version shows objects just as they are stored."""
        if self.converter is not None and (version != self.storage or self.epochs.ends):
            return False
        return self._compiled[version].digest == self._compiled[self.storage].digest

    def read(self, version: str, obj: JsonObject) -> JsonObject:
        """What was stored, as a version shows it: with the defaults of what it was stored as."""
        stored = self.epochs.version(int(obj["metadata"].get("resourceVersion", 0)))
        writer = stored if stored in self._compiled else self.storage
        self.schema(writer).migrate(obj)
        if writer != version:
            obj = self._converted(obj, writer, version)
            self.schema(version).strip(obj)
        return obj

    def write(self, version: str, obj: JsonObject) -> JsonObject:
        """What a version shows, as it is stored."""
        stored: JsonObject = msgspec.json.decode(msgspec.json.encode(obj))
        if version != self.storage:
            stored = self._converted(stored, version, self.storage)
        self.schema(self.storage).migrate(stored)
        return stored

    def _converted(self, obj: JsonObject, source: str, target: str) -> JsonObject:
        """An object of one version as another has it; ConversionNeeded if nobody knows that yet."""
        if self.converter is None:
            return obj
        named = {**obj, "apiVersion": f"{self._group}/{source}", "kind": self._kind}
        found = self.converter.converted(named, f"{self._group}/{target}")
        return {key: value for key, value in found.items() if key not in ("apiVersion", "kind")}


def _kind(crd: JsonObject, version: JsonObject, history: _History) -> Kind:
    spec, name = crd["spec"], version["name"]
    compiled = history.compiled(name)
    names = {**spec["names"], **(crd["status"].get("acceptedNames") or {})}
    return Kind(
        _resource(spec, names, version),
        table=f"{names['plural']}.{spec['group']}",
        strategy=compiled.strategy(_conversion(name, history)),
        names=_names(names),
        field_labels=FieldLabels({path: path for path in _selectable(version)}, history.values),
        custom=True,
        scale=scale_of(version),
        merge_schema=DEDUCED if schema_of(version) is PRESERVE_ALL else LazyMergeSchema(compiled),
        crd_version={key: value for key, value in version.items() if key != "schema"},
        schema=None if schema_of(version) is PRESERVE_ALL else compiled,
        deprecation_warning=_deprecation(spec, version, history.best),
        etcd_prefix=f"{spec['group']}/{spec['names']['plural']}",
    )


def _conversion(version: str, history: _History) -> ConversionStrategy:
    """How a version's objects are read and written, where that is more than a name."""
    read = partial(history.read, version)
    if history.alike(version):
        return ConversionStrategy(outdated_until=history.epochs.since, migrate=read)
    return ConversionStrategy(read, partial(history.write, version), migrate=read)


def _names(names: JsonObject) -> KindNames:
    return KindNames(
        names.get("singular", ""),
        tuple(names.get("shortNames") or ()),
        tuple(names.get("categories") or ()),
        names.get("listKind", ""),
    )


def _resource(spec: JsonObject, names: JsonObject, version: JsonObject) -> Resource:
    return Resource(
        spec["group"],
        version["name"],
        names["kind"],
        names["plural"],
        namespaced=spec["scope"] == "Namespaced",
        status="status" in (version.get("subresources") or {}),
    )


def _best(candidates: Sequence[JsonObject]) -> str:
    """The version to use in place of those that are deprecated, if there is one."""
    usable = (
        each["name"] for each in candidates if each.get("served") and not each.get("deprecated")
    )
    return max(usable, key=version_priority, default="")


def _deprecation(spec: JsonObject, version: JsonObject, best: str) -> str:
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    kind, group = spec["names"]["kind"], spec["group"]
    text = f"{group}/{version['name']} {kind} is deprecated"
    better = best and version_priority(best) > version_priority(version["name"])
    return f"{text}; use {group}/{best} {kind}" if better else text


def _selectable(version: JsonObject) -> list[str]:
    return [field["jsonPath"].lstrip(".") for field in version.get("selectableFields") or ()]
