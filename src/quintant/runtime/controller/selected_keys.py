"""Keys of controllers whose namespaces are selected by label: none of a closed namespace is taken.

Keys that come while their namespace is read for the first time wait here, and are taken up once
all of it is known: a reconciler that sees an object sees its children, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from quintant.client.fence import FenceKey
from quintant.core.object import Request


class NamespaceView(Protocol):
    """Who knows which namespaces are followed."""

    def is_closed(self, name: str) -> bool: ...
    def has_left(self, name: str) -> bool: ...


class SelectedKeys:
    """The keys of one controller that may be worked on."""

    def __init__(self, name: str, namespaces: NamespaceView) -> None:
        self._key, self._namespaces = FenceKey(name, 0, 0), namespaces
        self._waiting: dict[str, dict[Request, None]] = {}
        self._running: dict[Request, Callable[[], None]] = {}

    def begin(self, request: Request, abort: Callable[[], None]) -> FenceKey | None:
        """Note that a key is taken up; None if its namespace is closed."""
        name = request.namespace
        if self._namespaces.is_closed(name):
            if not self._namespaces.has_left(name):
                self._waiting.setdefault(name, {})[request] = None
            return None
        self._running[request] = abort
        return self._key

    def expects(self, request: Request) -> bool:
        """Whether a key waits for its namespace."""
        return request in self._waiting.get(request.namespace, ())

    def end(self, key: FenceKey, request: Request) -> None:
        """Note that the work on a key has ended."""
        self._running.pop(request, None)

    def take(self, namespace: str) -> Collection[Request]:
        """The keys that waited for a namespace, which is ready now."""
        return self._waiting.pop(namespace, ())

    def close(self, namespace: str) -> None:
        """End what is under way for a namespace, and forget what waits for it."""
        self._waiting.pop(namespace, None)
        for request in [each for each in self._running if each.namespace == namespace]:
            self._running.pop(request)()
