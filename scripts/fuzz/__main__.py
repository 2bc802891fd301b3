"""`python -m fuzz`: compare the embedded server with a real one; exits with 1 if they differ.

A difference is shrunk and printed as lines of JSON, which `--replay FILE` plays again.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from envtest import RealCluster
from fuzz import kept
from fuzz.difference import Difference
from fuzz.generate import sequence
from fuzz.kept import digests
from fuzz.pair import Pair, paired
from fuzz.shrink import shrunk
from fuzz.steps import Step, parsed
from fuzz.widgets import SUBJECTS
from quintant import Config

LENGTH = 30


def main() -> int:
    """Fuzz what was asked for and tell of each difference."""
    options = _parser().parse_args()
    with RealCluster() as cluster:
        return asyncio.run(_run(options, Config.load(cluster.kubeconfig)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the first sequence")
    parser.add_argument(
        "--sequences", type=int, default=20, help="how many, each with the next seed"
    )
    parser.add_argument("--steps", type=int, default=LENGTH, help="of a sequence")
    parser.add_argument("--kind", action="append", default=[], choices=tuple(SUBJECTS))
    parser.add_argument("--replay", type=Path, help="a file with steps, instead of seeds")
    parser.add_argument("--keep", action="store_true", help="record the kept sequences anew")
    parser.add_argument("--keep-going", action="store_true", help="after a difference")
    return parser


async def _run(options: argparse.Namespace, config: Config) -> int:
    async with paired(config) as pair:
        return await (_keep(pair) if options.keep else _fuzz(options, pair))


async def _keep(pair: Pair) -> int:
    """Ask the real server about every kept sequence again."""
    found = [
        structs.replace(each, told=digests(await pair.told(each.steps))) for each in kept.read()
    ]
    kept.write(found)
    print(f"{len(found)} sequences kept with what the real server told")
    return 0


async def _fuzz(options: argparse.Namespace, pair: Pair) -> int:
    differing = steps = 0
    for name, each in _sequences(options):
        steps += len(each)
        found = await pair.compare(each)
        if found is None:
            continue
        differing += 1
        await _explain(pair, name, each, found)
        if not options.keep_going:
            break
    print(f"{steps} steps sent to both servers, {differing} sequences differ", flush=True)
    return int(differing > 0)


def _sequences(options: argparse.Namespace) -> Iterator[tuple[str, list[Step]]]:
    if options.replay is not None:
        yield str(options.replay), parsed(options.replay.read_text())
        return
    for seed in range(options.seed, options.seed + options.sequences):
        yield f"seed {seed}", sequence(seed, options.steps, options.kind)


async def _explain(pair: Pair, name: str, steps: list[Step], found: Difference) -> None:
    """Print the smallest sequence that still differs, in the same way."""

    async def fails(candidate: list[Step]) -> bool:
        seen = await pair.compare(candidate)
        return seen is not None and seen.sort == found.sort

    print(f"{name}: the servers differ at {found.where}: {found.sort}", flush=True)
    # What goes wrong inside our server was told once, and is told again by a replay.
    logging.disable()
    small = await shrunk(steps, fails)
    logging.disable(logging.NOTSET)
    last = await pair.compare(small)
    print("\n".join(map(str, small)))
    print(f"{last}\n" if last else "the difference does not show every time\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
