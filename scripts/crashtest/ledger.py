"""What a server promised: the last acknowledged state of every object, and what was under way.

A state is a number, or GONE. Each object has one writer with one request at a time, so after a
crash it is what was acknowledged last or what was asked for and not answered: nothing else. What
a watcher was told counts as a promise, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

GONE = 0
"""The state of an object that is not there."""
LARGEST = 4000
"""Bytes of filling at most: so that objects span several pages of a file now and then."""

Data = dict[str, str]


def filled(number: int) -> Data:
    """The data of an object in a state; any part of it proves or belies the others."""
    filling = f"{crc32(str(number).encode()):08x}" * (crc32(f"size {number}".encode()) % LARGEST)
    return {"number": str(number), "filling": filling[:LARGEST]}


@dataclass(slots=True)
class _Page:
    acknowledged: int = GONE
    asked: int | None = None
    told: bool = False
    """Whether a watcher has seen what was asked for."""

    @property
    def possible(self) -> set[int]:
        if self.asked is None:
            return {self.acknowledged}
        return {self.asked} if self.told else {self.acknowledged, self.asked}


@dataclass(slots=True)
class Ledger:
    """Every promise so far."""

    revision: int = 0
    """The highest that anybody has seen."""
    acknowledged: int = 0
    """How many writes were answered."""
    _last: int = GONE
    _pages: dict[str, _Page] = field(default_factory=dict)

    def state(self, name: str) -> int:
        """What an object is, as far as its writer knows."""
        return self._page(name).acknowledged

    def fresh(self) -> int:
        """A state that no object was ever in."""
        self._last += 1
        return self._last

    def ask(self, name: str, number: int) -> None:
        """A request is about to be sent that brings an object into a state."""
        page = self._page(name)
        page.asked, page.told = number, False

    def acknowledge(self, name: str, revision: int) -> None:
        """The request was answered."""
        page = self._page(name)
        assert page.asked is not None, "an answer follows a question"
        page.acknowledged, page.asked = page.asked, None
        self.acknowledged += 1
        self.revision = max(self.revision, revision)

    def tell(self, name: str, number: int, revision: int) -> None:
        """A watcher saw an object in a state."""
        page = self._page(name)
        page.told |= page.asked == number
        self.revision = max(self.revision, revision)

    def tell_gone(self, name: str, last: int, revision: int) -> None:
        """A watcher saw an object go that was in a state: which of its deletions, that tells."""
        page = self._page(name)
        page.told |= page.asked == GONE and page.acknowledged == last
        self.revision = max(self.revision, revision)

    def check(self, found: Mapping[str, Data], revision: int) -> list[str]:
        """What is wrong with a server that came back; afterwards its state is the ledger's."""
        wrong = [f"{name}: torn" for name, data in found.items() if not _whole(data)]
        if revision <= self.revision:
            wrong.append(f"revision {revision} after {self.revision} had been seen")
        for name in {*self._pages, *found}:
            page = self._page(name)
            number = int(found[name]["number"]) if name in found else GONE
            if number not in page.possible:
                expected = " or ".join(map(str, sorted(page.possible)))
                wrong.append(f"{name}: {number} instead of {expected}")
            self._pages[name] = _Page(number)
        self.revision = max(self.revision, revision)
        return wrong

    def _page(self, name: str) -> _Page:
        return self._pages.setdefault(name, _Page())


def _whole(data: Data) -> bool:
    return data == filled(int(data["number"]))
