"""A provider of infrastructure whose only fault is that it takes its time.

Everybody is measured with it: operators over HTTP (`infra_provider`), and the algorithm of the
original under virtual time, where an hour costs nothing. Time is injected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

PREPARES = 0.25
"""The share of a creation in which no machine is listed."""
WELL = {"0": "configured", "1": "configured"}
ILL = {"0": "configured", "1": "failed"}


@dataclass(slots=True)
class ModelledInfrastructure:
    """What was asked for, and when."""

    template: bytes
    born: float
    seconds: float
    deleted: float | None = None
    failed: bool = False


@dataclass
class ProviderModel:
    """Infrastructures by their ids."""

    now: Callable[[], float]
    create_seconds: float = 4.0
    delete_seconds: float = 1.0
    made: dict[str, ModelledInfrastructure] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    """Requests by what they ask for."""
    _ids: count[int] = field(default_factory=lambda: count(1))

    def create(self, template: bytes) -> str:
        """Begin to make one; its id."""
        id = f"made-{next(self._ids)}"
        self.made[id] = ModelledInfrastructure(template, self.now(), self.create_seconds)
        return id

    def settle(self, ids: list[str]) -> None:
        """Have some that were made long ago."""
        for id in ids:
            self.made[id] = ModelledInfrastructure(b"{}", self.now(), 0.0)

    def delete(self, id: str) -> bool:
        """Begin to delete one; whether there is one."""
        if self.state(id) is None:
            return False
        found = self.made[id]
        found.deleted = self.now() if found.deleted is None else found.deleted
        return True

    def state(self, id: str) -> tuple[str, dict[str, str]] | None:
        """How one is, and its machines; None if there is none."""
        found = self.made.get(id)
        if found is None:
            return None
        if found.deleted is not None:
            if self.now() - found.deleted < self.delete_seconds:
                return "deleting", WELL
            del self.made[id]
            return None
        if found.failed:
            return "failed", ILL
        age = self.now() - found.born
        if age < found.seconds * PREPARES:
            return "pending", {}
        if age < found.seconds:
            return "running", {"0": "running", "1": "running"}
        return "configured", WELL
