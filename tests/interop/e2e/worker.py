"""Tests in batches, one after another: `python -m interop.e2e.worker ORDERS`, in its own network.

Whoever starts it (`runner`) gives a file with what to run, and reads the file with what became of
it, one line per test, which grows while it works.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec

from interop.e2e.report import Outcome
from interop.e2e.session import Programs, run_batch


class Orders(msgspec.Struct, frozen=True):
    """What to run, and where to write what became of it."""

    names: list[str]
    results: Path
    logs: Path
    e2e: Path
    kubectl: Path
    images: Path
    stages: Path
    seconds: float
    """For one test."""
    batch: int
    """How many tests share a cluster at most."""


def main(orders: Orders) -> None:
    programs = Programs(orders.e2e, orders.kubectl, orders.images, orders.stages)
    batches = count(1)
    with orders.results.open("ab", buffering=0) as results:
        for outcome in _run_all(programs, orders, batches):
            results.write(msgspec.json.encode(outcome) + b"\n")


def _run_all(programs: Programs, orders: Orders, batches: Iterator[int]) -> Iterator[Outcome]:
    rest = list(orders.names)
    while rest:
        orders.logs.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{next(batches):03}-", dir=orders.logs))
        ran = run_batch(programs, rest[: orders.batch], folder, orders.seconds)
        ran = ran or [_unreported(rest[0])]
        yield from ran
        rest = _without(rest, ran)


def _unreported(name: str) -> Outcome:
    return Outcome(name, "unreported", 0.0, "the program of the tests ended without a report of it")


def _without(names: Sequence[str], ran: Sequence[Outcome]) -> list[str]:
    done = {outcome.name for outcome in ran}
    return [name for name in names if name not in done]


if __name__ == "__main__":
    file = Path(sys.argv[1])
    main(msgspec.json.decode(file.read_bytes(), type=Orders, dec_hook=lambda _, path: Path(path)))
