"""`python -m mutants`: make mistakes in the source; exits with 1 if one goes unnoticed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from mutants.catalogue import Checks, Mutant, read, together
from mutants.trial import Copy, Outcome, Trial

WORKERS = 2
"""Trials at a time: each is one busy process."""
ROOT = Path(__file__).parents[2]


def main() -> int:
    """Try every mutant, or those whose names were given."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("word", nargs="*", help="only mutants with one of these in their name")
    parser.add_argument("--workers", type=int, default=WORKERS)
    options = parser.parse_args()
    chosen = [each for each in read() if _named(each, options.word)]
    with ExitStack() as stack:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for _ in range(options.workers):
            folder = stack.enter_context(TemporaryDirectory(prefix="quintant-mutants-"))
            copies.put(Copy(ROOT, Path(folder)))
        return _verdict(chosen, copies, options.workers)


def _named(mutant: Mutant, words: list[str]) -> bool:
    return not words or any(word in mutant.name for word in words)


def _verdict(mutants: list[Mutant], copies: SimpleQueue[Copy], workers: int) -> int:
    unsound = list(_unsound(mutants, copies, workers))
    for told in unsound:
        print(f"red without any mutant:\n{told}", flush=True)
    if unsound:
        return 1
    caught = 0
    for mutant, trial in _tried(mutants, copies, workers):
        caught += trial.outcome is Outcome.RED
        verdict = {Outcome.RED: "caught", Outcome.GREEN: "MISSED"}.get(trial.outcome, "BROKEN")
        print(f"{verdict:7} {trial.seconds:5.1f} s  {mutant.name}", flush=True)
        if trial.outcome is Outcome.BROKEN:
            print(trial.told, flush=True)
    print(f"{caught} of {len(mutants)} mutants caught")
    return int(caught < len(mutants))


def _unsound(mutants: list[Mutant], copies: SimpleQueue[Copy], workers: int) -> Iterator[str]:
    """What the tests print that fail already on the tree as it is."""
    groups = together({test for mutant in mutants for test in mutant.caught}, workers)

    def run(checks: Checks) -> Trial:
        copy = copies.get()
        try:
            return copy.sound(checks)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(workers) as pool:
        for trial in pool.map(run, groups):
            if trial.outcome is not Outcome.GREEN:
                yield trial.told


def _tried(
    mutants: list[Mutant], copies: SimpleQueue[Copy], workers: int
) -> Iterator[tuple[Mutant, Trial]]:
    def run(mutant: Mutant) -> Trial:
        copy = copies.get()
        try:
            return copy.mutated(mutant)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(workers) as pool:
        yield from zip(mutants, pool.map(run, mutants), strict=True)


if __name__ == "__main__":
    sys.exit(main())
