"""In which order handlers of one change are called: which of those that are due, in one round.

`asap` is the default: one handler in a round, the one that failed least.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from quintant.kopf.declare.handlers import Handler

Handlers = Sequence[Handler]
Lifecycle = Callable[..., Handlers]


def all_at_once(handlers: Handlers, **_: Any) -> Handlers:
    """All in one round."""
    return handlers


def one_by_one(handlers: Handlers, **_: Any) -> Handlers:
    """One in a round, in the order in which they were declared."""
    return handlers[:1]


def randomized(handlers: Handlers, **_: Any) -> Handlers:
    """One in a round, by lot."""
    return [random.choice(handlers)] if handlers else []


def shuffled(handlers: Handlers, **_: Any) -> Handlers:
    """All in one round, in an order by lot."""
    return random.sample(list(handlers), k=len(handlers))


def asap(handlers: Handlers, *, state: Mapping[str, Any], **_: Any) -> Handlers:
    """One in a round, those first that were tried least."""
    return sorted(handlers, key=lambda each: state[each.id].retries)[:1]


class _Default:
    lifecycle: Lifecycle = staticmethod(asap)


def get_default_lifecycle() -> Lifecycle:
    """The order where none is chosen."""
    return _Default.lifecycle


def set_default_lifecycle(lifecycle: Lifecycle | None) -> None:
    """Choose the order where none is chosen."""
    _Default.lifecycle = staticmethod(asap if lifecycle is None else lifecycle)
