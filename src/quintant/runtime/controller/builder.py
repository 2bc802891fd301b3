"""The fluent way to declare a controller; everything is checked at once, nothing is bound.

    manager.controls(Greeter).owns(ConfigMap).workers(8).reconcile(reconcile)

Each method returns the builder; `reconcile` ends it and hands the declaration to the manager.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, Self, TypeVar

from msgspec.structs import replace

from quintant.client.token_bucket import check_rate
from quintant.core.clock import seconds_of
from quintant.core.errors import ConfigError
from quintant.core.object import K, Object, Request
from quintant.core.resource import resource_of
from quintant.runtime.cache.indexer import IndexFunction
from quintant.runtime.controller.async_functions import check_async
from quintant.runtime.controller.context import KeyReconciler, Reconciler
from quintant.runtime.controller.declaration import (
    ByIndex,
    Declaration,
    Mapper,
    OnDeleted,
    PermissionUse,
    Retry,
    WatchDeclaration,
    kind_name,
    owner_requests,
)
from quintant.runtime.controller.finalizer import Cleanup, Finalizer
from quintant.runtime.controller.namespaces import checked_names, checked_namespaces
from quintant.runtime.controller.predicates import Predicate
from quintant.runtime.controller.rate_limiter import CAP_SECONDS, FIRST_SECONDS
from quintant.runtime.controller.sources import Source, Ticker, source

R = TypeVar("R", bound=Object)
Register = Callable[[Declaration[Any]], None]


class _Wiring:
    """What both builders have in common: everything but the kind that is controlled."""

    def __init__(self, register: Register, draft: Declaration[Any]) -> None:
        self._register = register
        self._draft = draft
        self._ended = False

    @property
    def unfinished(self) -> str:
        """The name of a controller that has no reconciler yet; empty once it has one."""
        return "" if self._ended else self._draft.name

    def watches(
        self,
        kind: type[R],
        *,
        to: Mapper[R] | ByIndex[R],
        when: Predicate[R] | None = None,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        index: Mapping[str, IndexFunction[R]] | None = None,
        namespaces: Sequence[str] = (),
        optional: bool = False,
    ) -> Self:
        """Let changes of another kind wake the keys that `to` maps it to (old and new state).

        `index` files its objects under values, for `client.list(kind, index=…)`; controllers that
        watch the same kind share it. `namespaces` are the only ones in which it is followed, and
        may be: by default all that the manager works in. An `optional` kind may not be installed:
        there are no objects of it then, and its changes are told from when it is.
        """
        return self._watch(
            WatchDeclaration(
                kind,
                to,
                when,
                labels or {},
                fields or {},
                indexes=index or {},
                namespaces=checked_namespaces("watches", kind, namespaces),
                optional=optional,
            )
        )

    def on(self, given: Source | AsyncIterable[Request]) -> Self:
        """Let something outside wake keys: `every(60)`, or an async iterable of requests."""
        return self._with(sources=(*self._draft.sources, source(given)))

    def uses(
        self,
        kind: type[Object],
        *verbs: str,
        sub: str = "",
        namespaces: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> Self:
        """Declare a permission beyond what is watched, such as `.uses(Secret, "get")`.

        `namespaces` and `names` are the only ones, and the only objects, it is for.
        """
        if not verbs:
            raise ConfigError(
                f"uses({kind_name(kind)}) names no verb", hint='add "get", "create" …'
            )
        where = checked_namespaces("uses", kind, namespaces)
        use = PermissionUse(kind, verbs, sub, where, checked_names(kind, verbs, names))
        return self._with(uses=(*self._draft.uses, use))

    def workers(self, count: int) -> Self:
        """How many keys are worked on at once (default 4); 1 means strictly one after another."""
        if count < 1:
            raise ConfigError(f"workers({count})", because="a controller needs at least one worker")
        return self._with(workers=count)

    def timeout(self, limit: float | timedelta) -> Self:
        """How long one reconcile may take (default 120 s) before it is cancelled and retried."""
        seconds = seconds_of(limit)
        if seconds <= 0:
            raise ConfigError(f"timeout({limit})", because="it must be more than zero seconds")
        return self._with(timeout=seconds)

    def retry(
        self,
        *,
        first: float = FIRST_SECONDS,
        cap: float = CAP_SECONDS,
        rate: float | None = None,
        burst: int = 1,
    ) -> Self:
        """How a failing key waits: `first` seconds, doubling with each failure, up to `cap`.

        `rate` holds the retries of all keys together to so many per second, after a `burst`: for
        an outside system that many failing objects would knock down. There is none by default.
        """
        if not 0 < first <= cap:
            raise ConfigError(f"retry(first={first}, cap={cap})", because="0 < first <= cap")
        if rate is not None:
            check_rate(rate, burst)
        return self._with(retry=Retry(first, cap, rate, burst))

    def without_resync(self) -> Self:
        """Do not look at every key again every ten hours."""
        return self._with(resync=False)

    def _watch(self, watch: WatchDeclaration) -> Self:
        return self._with(watches=(*self._draft.watches, watch))

    def _with(self, **changes: Any) -> Self:
        self._draft = replace(self._draft, **changes)
        return self

    def _end(self, reconcile: Reconciler[Any] | KeyReconciler) -> None:
        if self._ended:
            raise ConfigError(
                f"controller {self._draft.name!r} has two reconcilers",
                because=".reconcile(...) ends a declaration",
                hint="begin a second one: manager.controls(Kind, name=...)",
            )
        check_async(reconcile, f"controller {self._draft.name!r}", "(object, context)")
        self._ended = True
        self._register(replace(self._draft, reconcile=reconcile))


class Builder(_Wiring, Generic[K]):
    """Declares a controller of one kind."""

    def __init__(self, register: Register, draft: Declaration[K], kind: type[K]) -> None:
        super().__init__(register, draft)
        self._resource = resource_of(kind)

    def owns(
        self,
        kind: type[R],
        *,
        when: Predicate[R] | None = None,
        every_owner: bool = False,
        index: Mapping[str, IndexFunction[R]] | None = None,
        namespaces: Sequence[str] = (),
    ) -> Self:
        """Let changes of a child wake its owner: its controller, or with `every_owner` all.

        `index` and `namespaces` are those of `watches`.
        """
        mapper = owner_requests(self._resource, every_owner=every_owner)
        where = checked_namespaces("owns", kind, namespaces)
        return self._watch(
            WatchDeclaration(kind, mapper, when, owned=True, indexes=index or {}, namespaces=where)
        )

    def index(self, name: str, function: IndexFunction[K]) -> Self:
        """File the controlled objects under values, for `by_index` and `client.list(index=…)`."""
        if name in self._draft.indexes:
            raise ConfigError(f"index {name!r} is declared twice", hint="give each its own name")
        return self._with(indexes={**self._draft.indexes, name: function})

    def finalize(
        self,
        name: str,
        cleanup: Cleanup[K],
        *,
        when: Callable[[K], bool] | None = None,
        also: Sequence[str] = (),
        leaves: Callable[[K], str] | None = None,
    ) -> Self:
        """Hold objects until `cleanup` has returned None; the name is domain/word.

        `when` says which living objects are held: the others get no finalizer, and one that they
        have is taken off without cleanup. `also` are names that earlier versions used; they go with
        this one. `leaves` says in words what stays outside if an object is let go without cleanup.
        """
        if "/" not in name:
            raise ConfigError(
                f"finalizer {name!r} is not qualified", hint=f"call it example.dev/{name}"
            )
        if self._draft.finalizer is not None:
            raise ConfigError("a controller has one finalizer", hint="do both in one cleanup")
        if isinstance(also, str) or name in also or not all(also):
            raise ConfigError(
                f"finalizer {name!r} cannot stand for {also!r} as well",
                because="`also` is a list of other names",
                hint='write it like also=["example.dev/old"]',
            )
        check_async(cleanup, f"finalizer {name!r}", "(object, context)")
        return self._with(finalizer=Finalizer(name, cleanup, when, tuple(also), leaves))

    def on_deleted(self, forget: OnDeleted) -> Self:
        """Call `forget(request)` when an object is gone: to drop a metric, a map entry."""
        return self._with(on_deleted=forget)

    def reconcile(self, reconcile: Reconciler[K]) -> None:
        """End the declaration with the function that does the work."""
        self._check_indexes()
        self._end(reconcile)

    def _check_indexes(self) -> None:
        for watch in self._draft.watches:
            if isinstance(watch.to, ByIndex) and watch.to.index not in self._draft.indexes:
                raise ConfigError(
                    f"watches({kind_name(watch.kind)}) names the unknown index {watch.to.index!r}",
                    hint=f'declare it: .index("{watch.to.index}", lambda obj: [...])',
                )


class KeyBuilder(_Wiring):
    """Declares a controller whose keys are no objects: a network, a zone, a whole cluster."""

    def reconcile(self, reconcile: KeyReconciler) -> None:
        """End the declaration with the function that does the work."""
        if not (self._draft.watches or self._draft.sources):
            raise ConfigError(
                f"controller {self._draft.name!r} watches nothing",
                because="nothing would ever wake it",
                hint="add .watches(Kind, to=...) or .on(source)",
            )
        if not self._draft.watches and any(isinstance(on, Ticker) for on in self._draft.sources):
            raise ConfigError(
                "every(...) would wake nobody",
                because=f"controller {self._draft.name!r} watches nothing that names its keys",
                hint="return Result(after=...), or give an async iterable of requests",
            )
        if any(isinstance(watch.to, ByIndex) for watch in self._draft.watches):
            raise ConfigError(
                "by_index needs a controlled kind", hint="map with a function: to=lambda obj: [...]"
            )
        self._end(reconcile)
