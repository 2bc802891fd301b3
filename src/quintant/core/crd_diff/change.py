"""A change of a definition, and how far it is safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

Schema = Mapping[str, Any]


class Impact(IntEnum):
    """What a change does to objects that are stored, and to their users."""

    SAFE = 0
    """Every object stays valid, and nothing of it is lost."""
    CONVERSION = 1
    """Safe if the conversion webhook does what is needed."""
    BREAKING = 2
    """An object may be refused or lose a field, or a client is refused."""


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """One difference of two definitions."""

    path: str
    """Version and field, as `v1.spec.size`; empty for the definition itself."""
    rule: str
    """The keyword, or what else it is about: `enum`, `existingFieldRemoval`, `scope`."""
    impact: Impact
    message: str


def safe(path: str, rule: str, message: str) -> DefinitionChange:
    """A change that harms nobody."""
    return DefinitionChange(path, rule, Impact.SAFE, message)


def breaking(path: str, rule: str, message: str) -> DefinitionChange:
    """A change that harms an object or a client."""
    return DefinitionChange(path, rule, Impact.BREAKING, message)
