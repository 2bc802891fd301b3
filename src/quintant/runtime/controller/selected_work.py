"""The work of a manager whose namespaces are selected by label: begun, ended and fenced with them.

What hears first that a namespace leaves is the fence, then what runs, then the caches, whose
handlers drop what is remembered of its objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quintant.client.fence import Fence
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.core.clock import Random
from quintant.core.object import Object
from quintant.core.resource import resource_of
from quintant.runtime.cache.selected_namespaces import SelectedNamespaces
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.selected_keys import SelectedKeys
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.watch.timeouts import Timers


class SelectedWork:
    """The selected namespaces, and the keys of the controllers that work in them."""

    def __init__(self, namespaces: SelectedNamespaces, names: Iterable[str]) -> None:
        self.namespaces = namespaces
        self._keys = {name: SelectedKeys(name, namespaces) for name in names}
        self._controllers: Sequence[Controller[Any]] = ()

    @classmethod
    def made(
        cls,
        rest: Rest,
        labels: Mapping[str, str],
        declarations: Iterable[Declaration[Any]],
        *,
        random: Random,
        metrics: Metrics,
        timers: Timers,
    ) -> SelectedWork:
        """That of these declarations; those that name their namespaces are left alone."""
        selected = SelectedNamespaces(rest, labels, random, metrics=metrics, timers=timers)
        metrics.add_namespaces(selected)
        return cls(selected, [each.name for each in declarations if _is_selected(each)])

    def serve(self, controllers: Sequence[Controller[Any]]) -> None:
        """Have these controllers begin and end with the namespaces."""
        self._controllers = controllers
        self.namespaces.subscribe(self._ready, self._left)

    def of(self, controller: str) -> SelectedKeys | None:
        """The keys of a controller; None if they are no objects of such namespaces."""
        return self._keys.get(controller)

    def fence(self, inner: Fence | None) -> Fence:
        """What refuses writes into a namespace that has left, and those that `inner` refuses."""
        own = self.namespaces.fence
        if inner is None:
            return own

        def fence(call: ApiRequest | None = None, /) -> None:
            inner(call)
            own(call)

        return fence

    def _ready(self, namespace: str) -> None:
        for controller in self._controllers:
            if (keys := self._keys.get(controller.name)) is not None:
                controller.wake_keys(keys.take(namespace))

    def _left(self, namespace: str) -> None:
        for keys in self._keys.values():
            keys.close(namespace)


def _is_selected(declared: Declaration[Any]) -> bool:
    kind: type[Object] | None = declared.kind
    return kind is not None and resource_of(kind).namespaced and not declared.namespaces
