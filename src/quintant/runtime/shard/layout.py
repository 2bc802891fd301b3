"""Which range a key is in, and what replicas must agree on before they may share ranges.

    key ──shard key──> what stands for it ──blake2b──> range ──shard map──> member

A shard key is a function of the request alone, never of the object: what can be edited would bring
two members to one object. The range is the top bits of a hash that is the same in every process,
on every machine and in every version, so members need not talk about keys. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b

from msgspec import Struct

from quintant.core.errors import ConfigError
from quintant.core.object import Request

# The name of `range_of`: members that count otherwise are of another layout.
HASH = "blake2b-64"
HASH_BYTES = 8
LAYOUT_BYTES = 8
LATEST_KEYS = 1024
"""Keys whose range is remembered: each is asked for at every event, write and turn of its own."""
# Enough that ten members differ by a tenth, and few enough that a map is 4 KB.
RANGES = 128
FEWEST_RANGES, MOST_RANGES = 8, 1024
LEADER = -1
"""The range beside all others: what only one member of the group does."""

ShardKey = Callable[[Request], Request]
"""From a key to what stands for it; keys that one request stands for stay together."""


def by_key(request: Request) -> Request:
    """Every key by itself."""
    return request


def by_namespace(request: Request) -> Request:
    """All keys of a namespace together; those without one are together, too."""
    return Request("", request.namespace)


class Shards(Struct, frozen=True):
    """How a manager is sharded: `Manager("greeter", shards=Shards(ranges=256))`."""

    ranges: int = RANGES
    """A power of two from 8 to 1024, the same in every replica: the unit that is handed over."""

    def __post_init__(self) -> None:
        if not is_range_count(self.ranges):
            raise ConfigError(
                f"{self.ranges} ranges make no shards",
                because=f"it must be a power of two from {FEWEST_RANGES} to {MOST_RANGES}",
                hint=f"Shards(ranges={RANGES}) suits up to 30 replicas",
            )


class Layout(Struct, frozen=True):
    """What members must have in common: how ranges are counted, and what each key belongs to."""

    ranges: int
    controllers: tuple[tuple[str, str], ...]
    """Name and shard key of every controller, sorted."""

    @property
    def digest(self) -> str:
        """Short, and another one for every other layout."""
        lines = [HASH, str(self.ranges), *(f"{name} {key}" for name, key in self.controllers)]
        return blake2b("\n".join(lines).encode(), digest_size=LAYOUT_BYTES).hexdigest()


def make_layout(ranges: int, controllers: Iterable[tuple[str, str]]) -> Layout:
    """The layout of so many ranges and these controllers, in whatever order they come."""
    return Layout(ranges, tuple(sorted(controllers)))


def shard_key_name(key: ShardKey) -> str:
    """The name that tells two shard keys apart in every process."""
    return f"{key.__module__}.{getattr(key, '__qualname__', type(key).__qualname__)}"


def is_range_count(ranges: int) -> bool:
    """Whether keys can be divided into so many ranges."""
    return FEWEST_RANGES <= ranges <= MOST_RANGES and ranges.bit_count() == 1


@lru_cache(maxsize=LATEST_KEYS)
def range_of(key: Request, ranges: int, cluster: str = "") -> int:
    """The range of what stands for a key; `cluster` is empty at home."""
    text = f"{cluster}/{key.namespace}/{key.name}".encode()
    digest = blake2b(text, digest_size=HASH_BYTES).digest()
    return int.from_bytes(digest) >> (8 * HASH_BYTES + 1 - ranges.bit_length())


def range_name(number: int) -> str:
    """A range as people see it: its number, or `leader`."""
    return "leader" if number == LEADER else str(number)


def range_names(numbers: Iterable[int]) -> str:
    """Many ranges as people see them: `leader 0-42 64`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number > 0 and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(
        range_name(run[0]) if len(run) == 1 else f"{range_name(run[0])}-{run[-1]}" for run in runs
    )
