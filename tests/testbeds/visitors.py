"""Visitors who come at a steady rate, whatever happens, and what each of them got.

Every visitor has a connection of its own, so nothing is asked twice behind the test's back. Who
cannot even connect to a relay goes to the next one, as browsers do with several addresses. There
are never more than so many at once: a machine that stands still is no reason for a refusal.
"""

from __future__ import annotations

import asyncio
import statistics
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import patience
from testbeds.relays import request

LATE_SECONDS = 30.0
"""After which a visitor is told apart as one who got no answer."""
AT_ONCE = 40
METHODS = ("GET", "POST")
"""In turn: what may be asked twice, and what must not."""


@dataclass(frozen=True)
class Visit:
    """One visitor."""

    method: str
    relay: int
    """The port that took the connection."""
    began: float
    ended: float
    outcome: str
    """200; a status with the relay's own error; refused, cut or late."""

    def under_way(self, since: float, until: float) -> bool:
        """Whether it was there at any time between."""
        return self.began <= until and since <= self.ended


@dataclass
class Visits:
    """All visitors so far."""

    visits: list[Visit] = field(default_factory=list)

    @property
    def failures(self) -> list[Visit]:
        """Those who did not get what they came for."""
        return [visit for visit in self.visits if visit.outcome != "200"]

    def summary(self) -> str:
        """What happened, in a line."""
        took = sorted(visit.ended - visit.began for visit in self.visits)
        middle, most = statistics.median(took) * 1000, took[-1] * 1000
        found = Counter(f"{visit.method} {visit.outcome}" for visit in self.visits)
        counts = ", ".join(f"{number} x {what}" for what, number in sorted(found.items()))
        return f"{len(took)} visits: {counts}; median {middle:.1f} ms, longest {most:.0f} ms"


@asynccontextmanager
async def steady_visitors(app: str, rate: float, relays: Sequence[int]) -> AsyncIterator[Visits]:
    """So many visitors per second through relays in turn, while the context lasts; those who are
    on their way at its end are waited for."""
    found, over = Visits(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(_come(app, rate, relays, found, over, group))
        try:
            yield found
        finally:
            over.set()


async def visited(app: str, port: int) -> str:
    """What one visitor of a relay gets."""
    found = Visits()
    await _visit(app, "GET", [port], found)
    return found.visits[0].outcome


async def _come(
    app: str,
    rate: float,
    relays: Sequence[int],
    found: Visits,
    over: asyncio.Event,
    group: asyncio.TaskGroup,
) -> None:
    loop, room = asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE)
    began = loop.time()
    for number in count():
        await room.acquire()
        if over.is_set():
            return
        at = number % len(relays)
        order = (*relays[at:], *relays[:at])
        method = METHODS[number // len(relays) % len(METHODS)]
        visit = group.create_task(_visit(app, method, order, found))
        visit.add_done_callback(lambda _: room.release())
        began = max(began, loop.time() - number / rate)
        await asyncio.sleep(began + (number + 1) / rate - loop.time())


async def _visit(app: str, method: str, relays: Sequence[int], found: Visits) -> None:
    loop = asyncio.get_running_loop()
    began, relay, outcome = loop.time(), 0, "refused"
    for relay in relays:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", relay)
        except OSError:
            continue
        outcome = await _asked(reader, writer, request(app, method=method))
        break
    found.visits.append(Visit(method, relay, began, loop.time(), outcome))


async def _asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, raw: bytes) -> str:
    try:
        async with patience.within(LATE_SECONDS):
            writer.write(raw)
            return _outcome(await reader.read())
    except TimeoutError:
        return "late"
    except OSError:
        return "cut"
    finally:
        writer.close()


def _outcome(raw: bytes) -> str:
    """An answer, if it is whole."""
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:])
    if not fields or len(body) != int(fields.get("Content-Length", -1)):
        return "cut"
    status = lines[0].split(" ")[1]
    return f"{status} {fields.get('X-Portal-Error', '')}".strip()
