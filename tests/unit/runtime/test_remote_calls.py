"""Calls of systems outside are made, and in a preview only those that are declared to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import pytest

from quintant.core.errors import Terminal
from quintant.runtime.observe import logs
from quintant.runtime.remote_calls import HeldCall, RemoteCalls, changes, reads


class Shelf(Protocol):
    """What is called."""

    size: int

    @reads
    async def count(self, name: str) -> int: ...

    @changes("put {name} away")
    async def put(self, name: str, *, password: str = "") -> None: ...

    @changes("name {missing}")
    async def misnamed(self, name: str) -> None: ...

    async def clear(self) -> None: ...


@dataclass
class RealShelf:
    """Notes what is put on it."""

    held: list[str] = field(default_factory=list)
    size: int = 7

    async def count(self, name: str) -> int:
        return self.held.count(name)

    async def put(self, name: str, *, password: str = "") -> None:
        self.held.append(name)

    async def misnamed(self, name: str) -> None:
        self.held.append(name)

    async def clear(self) -> None:
        self.held.clear()


def guarded(calls: RemoteCalls, shelf: Shelf) -> Shelf:
    return calls.guard(shelf, Shelf, "shelf")


async def test_a_manager_at_work_makes_every_call() -> None:
    calls, real = RemoteCalls(), RealShelf()
    shelf = guarded(calls, real)
    await shelf.put("a")
    assert await shelf.count("a") == 1
    await shelf.clear()
    assert real.held == []
    assert calls.held is None


async def test_a_preview_makes_only_what_reads_and_notes_the_rest_once() -> None:
    calls, real = RemoteCalls(), RealShelf(["a"])
    shelf = guarded(calls, real)
    calls.hold()
    assert await shelf.count("a") == 1
    assert shelf.size == 7
    for _ in range(2):
        with pytest.raises(HeldCall):
            await shelf.put("b", password="hush")
    with pytest.raises(HeldCall):
        await shelf.clear()
    assert real.held == ["a"]
    assert list(calls.held or ()) == ["shelf: put b away", "shelf: clear"]


async def test_a_call_is_shown_with_the_object_that_it_is_for() -> None:
    calls = RemoteCalls()
    calls.hold()
    with logs.adding({"object": "default/a"}), pytest.raises(Terminal):
        await guarded(calls, RealShelf()).put("b")
    assert list(calls.held or ()) == ["shelf: put b away, for default/a"]


async def test_words_that_do_not_fit_are_the_name_of_the_call() -> None:
    calls = RemoteCalls()
    calls.hold()
    with pytest.raises(HeldCall):
        await guarded(calls, RealShelf()).misnamed("b")
    assert list(calls.held or ()) == ["shelf: misnamed"]
