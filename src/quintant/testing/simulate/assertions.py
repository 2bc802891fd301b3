"""What must hold of a simulation: always, at rest, and at least sometime.

always     asked after every write to the tables that it is about
at rest    asked at the end of every calm, and at the end of all
sometimes  noted when it happens; of many seeds at least one must reach it, or else nobody knows
           whether what follows from it is right
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from quintant.testing.simulate.timeline import Timeline

Check = Callable[[], Iterable[str]]
"""What does not hold, a line each."""
MOST_SHOWN = 100
"""Violations that are kept: what is broken always would fill the memory."""


@dataclass(slots=True)
class Assertions:
    """All of them, and what came of them."""

    timeline: Timeline
    violations: list[str] = field(default_factory=list)
    reached: dict[str, int] = field(default_factory=dict)
    """What is to happen sometime, and how often it has."""
    _always: dict[str, list[Check]] = field(default_factory=dict)
    _at_rest: list[Check] = field(default_factory=list)
    _broken: set[str] = field(default_factory=set)

    def always(self, check: Check, *tables: str) -> None:
        """Something that must hold after every write to these tables."""
        for table in tables:
            self._always.setdefault(table, []).append(check)

    def at_rest(self, check: Check) -> None:
        """Something that must hold once there was calm for long enough."""
        self._at_rest.append(check)

    def expect(self, *names: str) -> None:
        """What is to happen sometime."""
        for name in names:
            self.reached.setdefault(name, 0)

    def sometimes(self, name: str, *, holds: bool = True) -> None:
        """Something that is to happen sometime happens now, if it `holds`."""
        if holds:
            assert name in self.reached, f"nobody expects {name!r}"
            self.reached[name] += 1

    def written(self, table: str) -> None:
        """Ask what must hold after a write."""
        for check in self._always.get(table, ()):
            self._ask(check, "always: ")

    def rest(self) -> None:
        """Ask what must hold at rest."""
        for check in self._at_rest:
            self._ask(check, "at rest: ")

    def violate(self, violation: str) -> None:
        """Note what does not hold; once, however often it is seen."""
        if violation in self._broken or len(self.violations) >= MOST_SHOWN:
            return
        self._broken.add(violation)
        self.violations.append(violation)
        self.timeline.tell(f"! {violation}")

    def _ask(self, check: Check, when: str) -> None:
        for violation in check():
            self.violate(f"{when}{violation}")
