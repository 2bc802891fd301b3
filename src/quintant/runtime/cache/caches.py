"""All informers of a process: who watches what, found by kind.

An informer is started because a controller declared it, never as the side effect of a read: a read
that silently watched a whole kind would hide what it costs in memory and permissions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.core.errors import ConfigError, NotSelected, NotWatched
from quintant.core.object import K, Object, ObjectMeta, Request
from quintant.core.resource import Resource, resource_of
from quintant.runtime.cache.informer import Informer
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.watch.managed_fields import FieldManagers
from quintant.runtime.watch.timeouts import Timers

if TYPE_CHECKING:  # loaded where namespaces are selected, or managers are sharded
    from quintant.runtime.cache.partial.keep_rules import KeepRule, Partition
    from quintant.runtime.cache.partial.partial_informer import PartialInformer
    from quintant.runtime.cache.selected_informer import SelectedInformer
    from quintant.runtime.cache.selected_namespaces import SelectedNamespaces

log: Final = get_logger()

Selection = tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]


class Caches:
    """The shared informers, each declared before it is used."""

    def __init__(
        self,
        rest: Rest,
        random: Random,
        *,
        namespaces: Sequence[str] = (),
        metrics: Metrics | None = None,
        timers: Timers = Timers(),
        selected: SelectedNamespaces | None = None,
        partition: Partition | None = None,
    ) -> None:
        self._rest, self._random, self._metrics, self._timers = rest, random, metrics, timers
        self._namespaces = tuple(namespaces)
        self.selected = selected
        """The namespaces with certain labels, where kinds are followed only there."""
        self.partition = partition
        """Which keys are ours, where every replica works; None: all of them."""
        self.managers: FieldManagers = FieldManagers()
        """The field managers that controllers of this process write as."""
        self._informers: dict[tuple[Any, Selection, frozenset[str]], Informer[Any]] = {}
        self._by_kind: dict[Any, list[Informer[Any]]] = {}
        self._by_path: dict[str, list[Informer[Any]]] = {}
        self._by_resource: dict[Resource, list[Informer[Any]]] = {}
        """The same lists as by path, found without making one."""

    def __iter__(self) -> Iterator[Informer[Any]]:
        if self.selected is not None:
            yield self.selected.informer
        yield from self._informers.values()

    def declare(
        self,
        kind: type[K],
        *,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        namespaces: Sequence[str] = (),
        optional: bool = False,
        keep: KeepRule | None = None,
    ) -> Informer[K]:
        """The informer of a kind and selection, made on first demand and shared from then on.

        `namespaces` are the only ones it follows; by default those of the manager. It is `optional`
        if every controller that declares it can do without the kind. `keep` says which objects a
        member of a sharded manager holds; who declares the kind without it needs all of them.
        """
        followed = tuple(namespaces) or self._namespaces
        key = (kind, (_pairs(labels), _pairs(fields)), frozenset(followed))
        if key not in self._informers:
            self._informers[key] = self._make(kind, labels, fields, followed)
            self._informers[key].optional = optional
        informer = cast("Informer[K]", self._informers[key])
        informer.optional = informer.optional and optional
        if self.partition is not None:
            cast("PartialInformer[K]", informer).add_rule(keep)
        return informer

    def informer_for(self, kind: type[K], namespace: str = "") -> Informer[K]:
        """The informer that cached reads of a kind use; NotWatched if no controller declared one.

        Nor must it be asked about a namespace that it does not follow: what is there would look
        absent.
        """
        found = self.informers_for(kind, namespace)
        if len(found) > 1:
            raise ConfigError(
                f"a cached read of {_name(kind)} in all namespaces is ambiguous",
                because="it is watched in several, by several watches, and by none in all of them",
                hint="read it namespace by namespace, or with live=True",
            )
        return found[0]

    def informers_for(self, kind: type[K], namespace: str = "") -> Sequence[Informer[K]]:
        """The informers that hold all there is of a kind in a namespace, or all that is followed.

        Several where the namespaces of a kind are followed by several watches.
        """
        declared = self._by_kind.get(kind)
        if not declared:
            raise NotWatched(_name(kind))
        if len(declared) == 1 and (not namespace or declared[0].covers_namespace(namespace)):
            return declared
        if namespace and self.selected is not None and self.selected.has_left(namespace):
            raise NotSelected(namespace)
        followed = dict.fromkeys(name for one in declared for name in one.namespaces)
        namespaces = (namespace,) if namespace else followed
        # A namespace of its own adds nothing beside a watch of all of them.
        if not namespace and "" in followed and _is_whole(_covering(kind, declared, "")):
            namespaces = ("",)
        if not namespaces:  # none is selected
            return declared[:1]
        return list(dict.fromkeys(_covering(kind, declared, name) for name in namespaces))

    def find_anywhere(self, kind: type[K], key: Request) -> K | None:
        """What any cache of a kind holds of an object, whichever selection it belongs to."""
        for informer in self._by_kind.get(kind, ()):
            found: K | None = informer.store.get(key)
            if found is not None:
                return found
        return None

    def find_foreign(self, kind: type[Object], key: Request, uid: str) -> bool:
        """Whether an object is there that another member holds, with another controller."""
        for informer in self._by_kind.get(kind, ()):
            foreign = informer.foreign
            if foreign and key in foreign and not foreign.is_controlled_by(key, uid):
                return True
        return False

    def take_applied(self, obj: Object, manager: str, subresource: str = "") -> bytes | None:
        """The fields of a cached object that a manager applied before this process; given once."""
        fields = None
        for informer in self._by_kind.get(type(obj), ()):
            if informer.managed.held:  # as a rule nothing is, a while after the start
                fields = informer.managed.take(obj, manager, subresource) or fields
        return fields

    def record_write(self, obj: K, raw: bytes) -> None:
        """Make a write visible in every cache of its kind, whatever its projection."""
        for informer in self._on(resource_of(type(obj))):
            seen = obj if informer.kind is type(obj) else informer.decode(raw)
            if seen is not None:
                informer.record_write(seen)

    def record_raw_write(self, resource: Resource, raw: bytes) -> None:
        """Make a write visible whose answer was not decoded yet."""
        for informer in self._on(resource):
            seen = informer.decode(raw)
            if seen is not None:
                informer.record_write(seen)

    def record_delete(self, resource: Resource, meta: ObjectMeta) -> None:
        """Make a deletion visible in every cache of its kind."""
        key = Request(meta.name, meta.namespace)
        for informer in self._on(resource):
            informer.record_delete(key, meta.uid, meta.resource_version)

    def _make(
        self,
        kind: type[K],
        labels: Mapping[str, str] | None,
        fields: Mapping[str, str] | None,
        namespaces: Sequence[str],
    ) -> Informer[K]:
        followed = self.selected if not namespaces and resource_of(kind).namespaced else None
        make: type[Informer[K]] = Informer if followed is None else followed.informer_type
        if self.partition is not None:
            make = self.partition.informer_type
        informer = make(
            self._rest,
            kind,
            random=self._random,
            namespaces=namespaces,
            labels=labels,
            fields=fields,
            observer=self._metrics,
            managers=self.managers,
            timers=self._timers,
        )
        if followed is not None:
            followed.add(cast("SelectedInformer[K]", informer))
        if self._metrics is not None:
            self._metrics.add_informer(informer)
        siblings = self._by_path.setdefault(informer.resource.path(), [])
        shared = [sibling for sibling in siblings if not _apart(informer, sibling)]
        if shared and kind not in [sibling.kind for sibling in siblings]:
            _warn(informer, shared)
        siblings.append(informer)
        self._by_resource[informer.resource] = siblings
        self._by_kind.setdefault(kind, []).append(informer)
        return informer

    def _on(self, resource: Resource) -> Sequence[Informer[Any]]:
        siblings = self._by_resource.get(resource)
        return siblings if siblings is not None else self._by_path.get(resource.path(), ())


def _covering(
    kind: type[Object], declared: Sequence[Informer[Any]], namespace: str
) -> Informer[Any]:
    """The one of several informers that holds all there is in a namespace."""
    found = [one for one in declared if one.covers_namespace(namespace)]
    if not found:
        raise NotWatched(_name(kind), namespace)
    if len(found) == 1:
        return found[0]
    for informer in filter(_is_whole, found):
        return informer
    raise ConfigError(
        f"a cached read of {_name(kind)} is ambiguous",
        because="it is watched with several selections and never whole",
        hint="read with live=True, or watch it once without a selection",
    )


def _is_whole(informer: Informer[Any]) -> bool:
    return not (informer.labels or informer.fields)


def _apart(one: Informer[Any], other: Informer[Any]) -> bool:
    """Whether no object can be in both: they want different values of the same field or label."""
    return any(
        mine[key] != theirs[key]
        for mine, theirs in ((one.fields, other.fields), (one.labels, other.labels))
        for key in mine.keys() & theirs.keys()
    )


def _name(kind: type[Object]) -> str:
    resource = resource_of(kind)
    return f"Metadata[{resource.kind}]" if resource.metadata_only else kind.__name__


def _pairs(selector: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((selector or {}).items()))


def _warn(informer: Informer[Any], siblings: Sequence[Informer[Any]]) -> None:
    """Log that a kind is watched as several classes."""
    views = dict.fromkeys(_name(sibling.kind) for sibling in siblings)
    log.warning(
        "watching a kind twice",
        kind=informer.resource.full_name,
        views=[*views, _name(informer.kind)],
        why="each view is a cache of its own: they cost memory, and differ in time",
        hint="let all controllers of the manager watch the same class",
    )
