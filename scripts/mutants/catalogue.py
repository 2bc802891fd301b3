"""The mutants, as they are kept."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

SERVER = Path(__file__).with_name("mutants.toml")
EXPLORE = Path(__file__).with_name("explore.toml")
SHARDS = Path(__file__).with_name("shards.toml")
SOURCE = Path("src/quintant")
CONFORMANCE = "tests/conformance"


class Mutant(msgspec.Struct, frozen=True):
    """A mistake, and the tests that must notice it."""

    name: str
    file: str
    old: str
    new: str
    caught: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Its file, from the root of the tree."""
        return SOURCE / self.file

    def applied(self, text: str) -> str:
        """The source with the mistake; ValueError if it does not say there once what it changes."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.path}: {self.name}: what it changes is not there once")
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Checks:
    """Tests to run together."""

    tests: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        """For pytest: they end with the first that fails, and need no real server."""
        ours = any(test.startswith(CONFORMANCE) for test in self.tests)
        return ("-x", "-q", *(("-k", "embedded") if ours else ()), *self.tests)


def together(tests: Iterable[str], workers: int) -> list[Checks]:
    """Tests in as few runs as may be, since each has to import everything: one for a worker."""
    ordered = sorted(set(tests))
    ours = tuple(test for test in ordered if test.startswith(CONFORMANCE))
    others = [test for test in ordered if not test.startswith(CONFORMANCE)]
    shares = [ours, *(tuple(others[start::workers]) for start in range(workers))]
    return [Checks(share) for share in shares if share]


def read(*paths: Path) -> list[Mutant]:
    """The mutants of some files, or of all."""
    chosen = paths or (SERVER, EXPLORE, SHARDS)
    found = [each for path in chosen for each in tomllib.loads(path.read_text())["mutant"]]
    return msgspec.convert(found, list[Mutant])
