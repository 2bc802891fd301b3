"""Every handler that was declared, in the order in which they were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quintant.kopf.declare.handlers import Handler, HandlerKind
from quintant.kopf.declare.resource import Resource

RESOURCE_KINDS = frozenset(
    {
        HandlerKind.CHANGE, HandlerKind.EVENT, HandlerKind.INDEX,
        HandlerKind.DAEMON, HandlerKind.TIMER,
    }
)  # fmt: skip
WEBHOOK_KINDS = frozenset({HandlerKind.VALIDATE, HandlerKind.MUTATE})


class OperatorRegistry:
    """Handlers of one operator."""

    def __init__(self) -> None:
        self._handlers: list[Handler] = []

    def append(self, handler: Handler) -> None:
        """Add a handler."""
        self._handlers.append(handler)

    def of(self, *kinds: HandlerKind) -> list[Handler]:
        """The handlers of some kinds."""
        return [each for each in self._handlers if each.kind in kinds]

    def for_resource(self, resource: Resource, *kinds: HandlerKind) -> list[Handler]:
        """The handlers of some kinds that are about a resource."""
        return [
            each
            for each in self._handlers
            if each.kind in kinds and (each.selector is None or each.selector.matches(resource))
        ]

    def __len__(self) -> int:
        return len(self._handlers)


def deduplicated(handlers: Iterable[Handler]) -> Iterator[Handler]:
    """Handlers without those whose function is there under the same id."""
    seen: set[tuple[int, str]] = set()
    for handler in handlers:
        if (key := (id(handler.fn), handler.id)) not in seen:
            seen.add(key)
            yield handler


class _Default:
    """The registry that decorators fill unless they are given one."""

    registry = OperatorRegistry()


def get_default_registry() -> OperatorRegistry:
    """The registry of decorators that name none."""
    return _Default.registry


def set_default_registry(registry: OperatorRegistry) -> None:
    """Have decorators that name none fill this one from now on."""
    _Default.registry = registry
