"""`python -m crashtest`: kill -9 under load; exits with 1 if a promise was broken."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from crashtest.rounds import crashtest


def main() -> int:
    """Run the rounds that were asked for and tell of each."""
    parser = argparse.ArgumentParser(prog="crashtest", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0, help="of who writes what, and of the kills")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="quintant-crashtest-") as folder:
        return asyncio.run(_run(options, Path(folder)))


async def _run(options: argparse.Namespace, folder: Path) -> int:
    passed = acknowledged = 0
    random = Random(options.seed)
    async for done in crashtest(folder, options.rounds, options.writers, random):
        passed += not done.wrong
        acknowledged += done.acknowledged
        print(f"round {done.number}: {done.acknowledged} writes acknowledged", flush=True)
        for complaint in done.wrong:
            print(f"  {complaint}", flush=True)
    print(f"{passed} of {options.rounds} rounds passed, {acknowledged} writes acknowledged")
    return int(passed < options.rounds)


if __name__ == "__main__":
    sys.exit(main())
