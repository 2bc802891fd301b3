"""The declarations bound to one cluster: its caches and client, its events, its controllers.

Home is bound so, and every other cluster is: nothing of what is made here is shared between two.
So neither caches nor queues nor writes that are expected can mix, whatever uids and names there
are; and what hangs in one cluster holds no worker, no connection and no queue of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from quintant.client.fence import Fence
from quintant.client.rest import Rest
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.staleness import Staleness, sampling_seconds
from quintant.runtime.clusters.process_parts import ProcessParts
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.reconcile import ClientFinder, ControllerServices, KeyRoutes
from quintant.runtime.events.recorder import Recorder
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.reconcile.status_writer import StatusWriter

if TYPE_CHECKING:  # loaded by managers whose namespaces are selected
    from quintant.runtime.controller.selected_work import SelectedWork


class BoundCluster:
    """What works in one cluster; whoever has it runs its parts."""

    def __init__(
        self,
        rest: Rest,
        process: ProcessParts,
        declarations: Sequence[Declaration[Any]],
        metrics: Metrics,
        *,
        cluster: str = "",
        fence: Fence | None = None,
        routes: KeyRoutes | None = None,
        client_of: ClientFinder | None = None,
    ) -> None:
        """With `rest` every replica asks and reports; the client's writes pass the `fence`, too."""
        settings, random, clock = process.settings, process.random, process.clock
        self.rest: Final = rest
        self.metrics: Final = metrics
        self.selected: SelectedWork | None = (
            _new_selected(rest, process, declarations, metrics) if settings.selector else None
        )
        """Where namespaces are selected by label."""
        self.caches: Caches = Caches(
            rest,
            random,
            namespaces=settings.namespaces,
            metrics=metrics,
            timers=settings.watch,
            selected=self.selected.namespaces if self.selected is not None else None,
            partition=process.partition,
        )
        if self.selected is not None:
            fence = self.selected.fence(fence)
        fenced = replace(rest, fence=fence) if fence is not None else rest
        self.client: Client = Client(fenced, self.caches, settings.name, random=random, clock=clock)
        self.caches.managers.add(settings.name)
        self._clients: dict[str, Client] = {}
        self.recorder: Recorder = Recorder(
            rest,
            settings.name,
            clock=clock,
            random=random,
            metrics=metrics,
            instance=process.instance,
        )
        self.staleness: Staleness = Staleness(rest, process.boottime, random)
        self.sampling: float | None = sampling_seconds(
            settings.staleness, (declared.fresh for declared in declarations)
        )
        """How often the server is asked how far it is; None: never."""
        services = ControllerServices(
            self.caches,
            self.client,
            clock,
            random,
            metrics,
            self.recorder,
            StatusWriter(self.client, random),
            process.blocking,
            self.staleness,
            process.tracer,
            process.lease_left,
            self.selected if self.selected is not None else process.ownerships,
            cluster,
            routes,
            client_of,
        )
        self.controllers: list[Controller[Any]] = [
            Controller(declared, services) for declared in declarations
        ]
        if self.selected is not None:
            self.selected.serve(self.controllers)
        if self.sampling is not None:
            for controller in self.controllers:
                metrics.add_staleness(controller.name, controller.views)

    def client_as(self, controller: str) -> Client:
        """The client by which a controller acts here whose keys are in another cluster."""
        if controller not in self._clients:
            self.caches.managers.add(controller)
            self._clients[controller] = self.client.with_field_manager(controller)
        return self._clients[controller]


def _new_selected(
    rest: Rest,
    process: ProcessParts,
    declarations: Sequence[Declaration[Any]],
    metrics: Metrics,
) -> SelectedWork:
    from quintant.runtime.controller.selected_work import SelectedWork

    settings = process.settings
    return SelectedWork.made(
        rest,
        settings.selector,
        declarations,
        random=process.random,
        metrics=metrics,
        timers=settings.watch,
    )
