"""How the writes of a pass went: values alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from quintant.operators.shifu.api.device import UnreportedMove

NAME_TAKEN: Final = "NameTaken"
"""Somebody else has an object of that name."""
REFUSED: Final = "Refused"
"""The API server does not take an object: a quota, a policy, a webhook."""


@dataclass(frozen=True, slots=True)
class ChildRefusal:
    """A child that could not be written, and will not be by trying again."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What could not be done, step by step; everything else was."""

    refusals: tuple[ChildRefusal, ...] = ()
    reported: frozenset[str] = frozenset()
    """The ids of moves whose events the server has,"""
    unreported: tuple[UnreportedMove, ...] = ()
    """and moves whose events it did not take."""
