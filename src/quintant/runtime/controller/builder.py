"""The fluent way to declare a controller; everything is checked at once, nothing is bound.

    manager.controls(Greeter).owns(ConfigMap).workers(8).reconcile(reconcile)

Each method returns the builder; `reconcile` ends it and hands the declaration to the manager.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Self, TypeVar

from quintant.core.errors import ConfigError
from quintant.core.object import K, Object
from quintant.core.resource import resource_of
from quintant.runtime.cache.indexer import IndexFunction
from quintant.runtime.controller.async_functions import check_async
from quintant.runtime.controller.base_builder import BaseBuilder, Register
from quintant.runtime.controller.declaration import (
    ByIndex,
    DaemonFunction,
    Declaration,
    OnDeleted,
    WatchDeclaration,
    kind_name,
    owner_requests,
)
from quintant.runtime.controller.namespaces import checked_namespaces
from quintant.runtime.reconcile.context import KeyReconciler, Reconciler
from quintant.runtime.reconcile.finalizer import Cleanup, Finalizer
from quintant.runtime.reconcile.keyed_state import KeyHolder
from quintant.runtime.source.predicates import Predicate
from quintant.runtime.source.sources import Ticker

R = TypeVar("R", bound=Object)


class Builder(BaseBuilder, Generic[K]):
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
        shared: bool = False,
    ) -> Self:
        """Let changes of a child wake its owner: its controller, or with `every_owner` all.

        `index`, `namespaces` and `shared` are those of `watches`.
        """
        mapper = owner_requests(self._resource, every_owner=every_owner)
        checked = checked_namespaces("owns", kind, namespaces)
        return self._watch(
            WatchDeclaration(
                kind,
                mapper,
                when,
                owned=True,
                indexes=index or {},
                namespaces=checked,
                shared=shared,
            )
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
        this one. `leaves` says in words what stays outside if an object is released without
        cleanup.
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

    def daemon(self, function: DaemonFunction[K]) -> Self:
        """Run a task per object, beside its reconciles: `async def watch(obj, ctx)`.

        It begins before the first reconcile of a living object, on the leader only, and is
        cancelled and awaited when the object is to go, before its cleanup, and when the controller
        stops. One that raises is begun again after a second, two, up to a minute, with a Warning
        event; one that returns, or raises Terminal, is over.
        """
        check_async(function, "daemon", "(object, context)")
        if self._draft.daemon is not None:
            raise ConfigError(
                f"controller {self._draft.name!r} has two daemons",
                because="there is one task per object",
                hint="do both in one function, with asyncio.TaskGroup",
            )
        return self._with(daemon=function)

    def keeps(self, *states: KeyHolder) -> Self:
        """Forget a key in all of these when its object is gone: a `KeyedState`, series of metrics.

        Anything with a method `forget(request)` will do; sources given to `.on` need no mention.
        """
        return self._with(keeps=(*self._draft.keeps, *states))

    def on_deleted(self, forget: OnDeleted) -> Self:
        """Call `forget(request)` when an object is gone, after what `keeps` forgets; one only."""
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


class KeyBuilder(BaseBuilder):
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
