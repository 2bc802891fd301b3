"""Enums whose members cost nothing to name."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

E = TypeVar("E", bound=Enum)


def fast_members(enum: type[E]) -> type[E]:
    """Decorate an enum that is named on a hot path: `State.READY` becomes a plain attribute.

    Python 3.11 calls a function for every such look-up, which takes longer than most of what it
    decides; later versions do by themselves what is done here.
    """
    for member in enum:
        type.__setattr__(enum, member.name, member)
    return enum
