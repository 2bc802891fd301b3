"""Whose the keys of a controller are: what a worker asks before it takes a key up.

Without shards every key is this process's own, and nothing is asked. With them the ranges of
`quintant.runtime.shard` answer; where namespaces are selected by label, `SelectedKeys` do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from quintant.client.fence import FenceKey
from quintant.core.object import Request


class KeyOwnership(Protocol):
    """The keys of one controller that are this process's to work on."""

    def begin(self, request: Request, abort: Callable[[], None]) -> FenceKey | None:
        """Note that a key is taken up; None if it is another process's.

        `abort` ends the work if its range must go before it has ended.
        """

    def expects(self, request: Request) -> bool:
        """Whether a key that cannot be taken up now can be in a moment, without a further wake."""

    def end(self, key: FenceKey, request: Request) -> None:
        """Note that the work on a key has ended."""


class KeyOwnerships(Protocol):
    """The keys of every controller."""

    def of(self, controller: str) -> KeyOwnership | None:
        """Those of the controller of this name; None if all of them are this process's own."""
