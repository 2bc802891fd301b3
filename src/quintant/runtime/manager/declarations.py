"""What a program declares, one after the other: controllers, tasks beside them, what it serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from quintant.core.errors import ConfigError
from quintant.core.object import K, Object
from quintant.core.resource import resource_of
from quintant.metrics import Collector
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.async_functions import check_async
from quintant.runtime.controller.builder import Builder, KeyBuilder
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.namespaces import checked_namespaces
from quintant.runtime.manager.health import Check, ProbeKind
from quintant.runtime.observe.alerts import Alert
from quintant.runtime.source.predicates import Predicate

B = TypeVar("B", bound=Builder[Any] | KeyBuilder)
RunnableFunction = Callable[[Client], Awaitable[None]]


JsonPage = Callable[[Client, str], Awaitable[bytes | None]]
"""From a client and the path below a word to JSON; None if there is nothing there."""


class Runnable(Struct, frozen=True):
    """A task beside the controllers; with `leader` it runs only where the lease is held."""

    run: RunnableFunction
    leader: bool


class ControllerDeclarations:
    """Controllers and runnables, as they are declared one after the other."""

    def __init__(self) -> None:
        self.declarations: list[Declaration[Any]] = []
        self.runnables: list[Runnable] = []
        self._builders: list[Builder[Any] | KeyBuilder] = []

    def controls(
        self,
        kind: type[K],
        *,
        name: str = "",
        when: Predicate[K] | None = None,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        namespaces: Sequence[str] = (),
        shared: bool = False,
    ) -> Builder[K]:
        """Begin the declaration of a controller for a kind; `.reconcile(...)` ends it.

        The controller's name, by default the kind's in lower case, is the field manager of its
        writes: keep it for ever. `namespaces` are the only ones whose objects it controls; by
        default all that the manager works in. With `shared` every member of a sharded manager holds
        all of them, for controllers that look at more than their own key.
        """
        title = name or resource_of(kind).kind.lower()
        draft: Declaration[K] = Declaration(
            title,
            kind,
            _unfinished,
            when,
            labels or {},
            fields or {},
            namespaces=checked_namespaces("controls", kind, namespaces),
            shared=shared,
        )
        return self._begun(Builder(self.register, draft, kind))

    def keyed(self, name: str) -> KeyBuilder:
        """Begin the declaration of a controller whose keys are no objects."""
        return self._begun(KeyBuilder(self.register, Declaration(name, None, _unfinished)))

    def add(self, function: RunnableFunction, *, leader: bool = False) -> None:
        """Run a task with a client: a poller, a server. If it raises, it is begun again later.

        One that raises before it waited for anything ends the program: that is no bad answer.
        """
        check_async(function, "runnable", "(client)")
        self.runnables.append(Runnable(function, leader))

    def register(self, declaration: Declaration[Any]) -> None:
        """Take a declaration that has ended."""
        self.check_name(declaration.name)
        self.declarations.append(declaration)

    def check_name(self, name: str) -> None:
        """ConfigError if a controller has this name already."""
        if name in self.names():
            raise ConfigError(
                f"two controllers are called {name!r}",
                because="the name is a field manager and a metric label",
                hint=f'name the second one: controls(Kind, name="{name}-2")',
            )

    def names(self) -> set[str]:
        """The names of all controllers."""
        return {declared.name for declared in self.declarations}

    def unfinished(self) -> Iterator[str]:
        """The names of controllers whose declaration was begun and not ended."""
        return filter(None, (builder.unfinished for builder in self._builders))

    def _begun(self, builder: B) -> B:
        self._builders.append(builder)
        return builder


class OperatorMetrics(Protocol):
    """The series of an operator."""

    def collectors(self) -> Iterable[Collector]:
        """All of them, to be served."""


class ProgramDeclarations(ControllerDeclarations):
    """What a whole program declares beside its controllers: series, alerts, checks, pages."""

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []
        self.alerts: list[Alert] = []
        self.checks: list[tuple[ProbeKind, str, Check]] = []
        self.json_pages: dict[str, JsonPage] = {}
        self.objects: list[Object] = []

    def add_collectors(self, *collectors: Collector) -> None:
        """Serve series of your own beside ours: of `quintant.metrics`, or of prometheus_client."""
        self.collectors.extend(collectors)

    def add_alerts(self, *alerts: Alert) -> None:
        """Have people alerted to conditions of your series: `quintant manifests --monitoring`."""
        self.alerts.extend(alerts)

    def serve_json(self, word: str, page: JsonPage) -> None:
        """Serve JSON at /WORD beside the metrics; None of a page, for the path below, is a 404."""
        self.json_pages[word] = page

    def add_objects(self, *objects: Object) -> None:
        """Have further objects installed with the program: accounts and roles of its agents."""
        self.objects.extend(objects)

    def alive(self, name: str, check: Check) -> None:
        """Have the process restarted while `check` says what is wrong (/healthz)."""
        self.checks.append((ProbeKind.LIVENESS, name, check))

    def ready(self, name: str, check: Check) -> None:
        """Have the process called not ready while `check` says what is wrong (/readyz)."""
        self.checks.append((ProbeKind.READINESS, name, check))


async def _unfinished(*_: Any) -> None:
    raise ConfigError("a controller was declared without .reconcile(...)")
