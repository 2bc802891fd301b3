"""What every builder of a controller has: what wakes it, what it may do, how it works.

`builder` has the two that users see: of a kind, and of keys that are no objects.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Self, TypeVar

from msgspec.structs import replace

from quintant.client.token_bucket import check_rate
from quintant.core.clock import seconds_of
from quintant.core.errors import ConfigError
from quintant.core.object import Object, Request
from quintant.runtime.cache.indexer import IndexFunction
from quintant.runtime.cache.staleness import check_within
from quintant.runtime.controller.async_functions import check_async
from quintant.runtime.controller.declaration import (
    ByIndex,
    Declaration,
    Mapper,
    PermissionUse,
    PriorityFunction,
    Retry,
    RetryPolicy,
    WatchDeclaration,
    kind_name,
)
from quintant.runtime.controller.namespaces import checked_names, checked_namespaces
from quintant.runtime.reconcile.context import KeyReconciler, Reconciler
from quintant.runtime.reconcile.keyed_state import KeyHolder
from quintant.runtime.source.predicates import Predicate
from quintant.runtime.source.sources import Source, source
from quintant.runtime.workqueue.rate_limiter import CAP_SECONDS, FIRST_SECONDS, RateLimiter

R = TypeVar("R", bound=Object)
Register = Callable[[Declaration[Any]], None]


class BaseBuilder:
    """The declaration of a controller, begun and not ended; each method returns the builder."""

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
        shared: bool = False,
    ) -> Self:
        """Let changes of another kind wake the keys that `to` maps it to (old and new state).

        `index` files its objects under values, for `client.list(kind, index=…)`; controllers that
        watch the same kind share it. `namespaces` are the only ones in which it is followed, and
        may be: by default all that the manager works in. An `optional` kind may not be installed:
        there are no objects of it then, and its changes are watched from when it is. Members of a
        sharded manager hold what maps to their own keys; of a `shared` kind, every one holds all.
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
                shared=shared,
            )
        )

    def on(self, given: Source | AsyncIterable[Request]) -> Self:
        """Let something outside wake keys: `every(60)`, or an async iterable of requests.

        A source with a `forget` method (a Follower, LongCalls) forgets a key when its object is
        gone.
        """
        keeps = (given,) if isinstance(given, KeyHolder) else ()
        return self._with(
            sources=(*self._draft.sources, source(given)), keeps=(*self._draft.keeps, *keeps)
        )

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
        checked = checked_namespaces("uses", kind, namespaces)
        use = PermissionUse(kind, verbs, sub, checked, checked_names(kind, verbs, names))
        return self._with(uses=(*self._draft.uses, use))

    def shard_by(self, key: Callable[[Request], Request]) -> Self:
        """Keep keys together on one member of a sharded manager: `.shard_by(by_namespace)`.

        `key` is a function of the request alone, the same in every process: keys that it maps to
        the same request are one member's. Without it every key is by itself.
        """
        if self._draft.single:
            raise _single_and_sharded(self._draft.name)
        return self._with(shard_key=key)

    def single(self) -> Self:
        """Run on one member of a sharded manager only, for what looks at all keys at once."""
        if self._draft.shard_key is not None:
            raise _single_and_sharded(self._draft.name)
        return self._with(single=True)

    def clusters(self, *, home: bool = True, others: bool = True) -> Self:
        """Work in some clusters of the manager only: `.clusters(home=False)` leaves home out.

        Without it a controller works at home, and in every other cluster that the manager has.
        """
        if not (home or others):
            raise ConfigError(
                f"controller {self._draft.name!r} works in no cluster",
                hint=".clusters(home=False), or .clusters(others=False)",
            )
        return self._with(home=home, others=others)

    def on_released(self, forget: Callable[[Request], None]) -> Self:
        """Call `forget(request)` when a key becomes another member's; after what `keeps` forgets.

        The object is there still, and nothing is to be cleaned up.
        """
        return self._with(on_released=forget)

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

    def fresh(self, *, within: float | timedelta) -> Self:
        """Reconcile no key while a cache that this controller watches may be older than `within`.

        Keys wait in the queue meanwhile. The server is asked at least twice within that time how
        far it is. A kind in which nothing happens is known to be current when a bookmark comes,
        once a minute: with less than 90 seconds, keys wait for that.
        """
        return self._with(fresh=check_within("fresh", within))

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
        if self._draft.rate_limiter is not None:
            raise _limited_twice(self._draft.name)
        return self._with(retry=Retry(first, cap, rate, burst))

    def rate_limiter(self, make: Callable[[], RateLimiter[Request]]) -> Self:
        """Have failing keys wait as another rate limiter says, in place of `.retry(…)`.

        `make` is called once per run of the controller: `.rate_limiter(MyLimiter)`.
        """
        _check_callable("rate_limiter", make, "a class, or a function that makes one")
        if self._draft.retry != Retry():
            raise _limited_twice(self._draft.name)
        return self._with(rate_limiter=make)

    def retry_policy(self, policy: RetryPolicy) -> Self:
        """Let a function of the failure say when a key is tried again, or that it is given up.

        It is asked about errors, refusals and time-outs; not about conflicts, which are none, nor
        where the server said itself when it may be asked again.
        """
        _check_callable("retry_policy", policy, "a function of a ReconcileFailure")
        return self._with(retry_policy=policy)

    def priority(self, function: PriorityFunction[Any]) -> Self:
        """Rank keys when they are added to the queue: `function(request, obj, priority)`.

        What was ranked keeps its priority while it is retried.
        """
        _check_callable("priority", function, "a function of request, object and priority")
        return self._with(priority=function)

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


def _check_callable(what: str, given: object, wanted: str) -> None:
    if not callable(given):
        raise ConfigError(
            f"{what}({given!r})",
            because="it is called while the controller runs",
            hint=f"give it {wanted}",
        )


def _limited_twice(name: str) -> ConfigError:
    return ConfigError(
        f"controller {name!r} has two rate limiters",
        because=".retry(first=…, cap=…, rate=…) configures the one that .rate_limiter(…) replaces",
        hint="leave one of them out",
    )


def _single_and_sharded(name: str) -> ConfigError:
    return ConfigError(
        f"controller {name!r} cannot be single and have a shard key",
        because="one that runs on one member has no keys to divide",
        hint="leave one of .single() and .shard_by(...) out",
    )
