"""Sequences that once differed, or seeds worth trying always, with what a real server told.

Kept as lines of JSON: the steps as they are, a digest for each answer and for each watch. So the
embedded server is held to them where there is no real one; what exactly differs then, a run on
both (`make fuzz ARGS="--replay …"`) shows. `make fuzz ARGS=--keep` records them anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from fuzz.player import Record
from fuzz.steps import Step

FILE = Path(__file__).with_name("kept.jsonl")
DIGEST_BYTES = 6


class Kept(msgspec.Struct, frozen=True):
    """A sequence, and what a real server made of it."""

    name: str
    steps: list[Step]
    told: list[str] = []


def read(path: Path = FILE) -> list[Kept]:
    """Every kept sequence."""
    return [msgspec.json.decode(line, type=Kept) for line in path.read_text().splitlines()]


def write(kept: Sequence[Kept], path: Path = FILE) -> None:
    """Keep these, and no others."""
    path.write_text("".join(f"{msgspec.json.encode(each).decode()}\n" for each in kept))


def digests(record: Record) -> list[str]:
    """What a normal record comes to: one per answer, one per watch."""
    told = [[each.code, each.body, each.warnings] for each in record.answers]
    watched = [[watch, events] for watch, events in sorted(record.events.items())]
    return [_digest(each) for each in (*told, *watched)]


def strayed(kept: Kept, record: Record) -> list[str]:
    """What a server told otherwise than the real one: steps by number, watches by name."""
    places = [f"step {at + 1}: {step}" for at, step in enumerate(kept.steps)]
    places += [f"watch {watch}" for watch in sorted(record.events)]
    told = zip(places, kept.told, digests(record), strict=True)
    return [place for place, theirs, ours in told if theirs != ours]


def _digest(value: object) -> str:
    raw = msgspec.json.encode(value, order="sorted")
    return blake2b(raw, digest_size=DIGEST_BYTES).hexdigest()
