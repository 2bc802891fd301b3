"""Plain objects, and the functions and findings that go with them, for every room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from quintant.core.errors import Cause

JsonObject = dict[str, Any]
"""An object as plain dicts and lists."""


Edit = Callable[[JsonObject], Any]
"""From the live object, which it may change, to what a client wants it to be."""


OtherObjects = Callable[[], Iterator[JsonObject]]
"""The stored objects of the same kind, read when asked for."""


class ValidationResult(Struct, frozen=True):
    """What is wrong with an object, and what its author should know."""

    errors: Sequence[Cause] = ()
    warnings: Sequence[str] = ()


class DeletionPropagation(Enum):
    """What becomes of dependents when their owner is deleted."""

    BACKGROUND = "Background"
    FOREGROUND = "Foreground"
    ORPHAN = "Orphan"
