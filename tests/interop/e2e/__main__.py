"""`python -m interop.e2e`: run conformance tests, and keep what became of them in the list.

    PYTHONPATH=tests:scripts python -m interop.e2e --sig apps --excluded --results /tmp/apps

Those that have a result in the folder are not run again. With `--keep` those that pass are moved
to what has to pass; reasons of those that fail are written by people.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from interop.e2e import kept_list
from interop.e2e.report import Outcome
from interop.e2e.runner import LANES, Runner, programs, read_results

SECONDS = 90.0


def main() -> None:
    options = _parser().parse_args()
    kept = kept_list.read()
    done = {outcome.name for file in _files(options.results) for outcome in read_results(file)}
    names = [name for name in _chosen(options, kept) if name not in done]
    options.results.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=options.results))
    print(f"{len(names)} tests, logs in {folder}", flush=True)
    runner = Runner(programs(folder), folder, options.seconds, options.lanes)
    outcomes = runner.run(names[: options.limit], _print)
    passed = [outcome.name for outcome in outcomes if outcome.passed]
    print(f"{len(passed)} of {len(outcomes)} passed")
    if options.keep:
        kept_list.write(kept_list.marked(kept, ((name, "") for name in passed)))


def _chosen(options: argparse.Namespace, kept: kept_list.KeptList) -> Iterator[str]:
    for sig, tests in kept.items():
        if options.sig in (None, sig):
            for name in sorted(_candidates(options, tests)):
                if options.match in name:
                    yield name


def _candidates(options: argparse.Namespace, tests: kept_list.SigTests) -> Iterable[str]:
    if options.excluded is None:
        return tests.passing
    return [name for name, reason in tests.reasons() if reason.startswith(options.excluded)]


def _files(results: Path) -> Iterator[Path]:
    yield from results.glob("run-*/results.jsonl")


def _print(outcome: Outcome) -> None:
    words = " ".join(outcome.message.split())[:300]
    print(f"{outcome.state:<11} {outcome.seconds:6.1f} s {outcome.name} {words}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="interop.e2e", description=__doc__)
    parser.add_argument("--sig")
    parser.add_argument("--match", default="", help="a part of the tests' names")
    excluded = "those that are excluded, for a reason that begins so"
    parser.add_argument("--excluded", nargs="?", const="", metavar="REASON", help=excluded)
    parser.add_argument("--limit", type=int, help="so many at most")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one test")
    parser.add_argument("--lanes", type=int, default=LANES)
    parser.add_argument("--keep", action="store_true", help="write into the list which pass")
    results = Path(tempfile.gettempdir()) / f"quintant-e2e-{os.geteuid()}"
    parser.add_argument("--results", type=Path, default=results, help="a folder")
    return parser


if __name__ == "__main__":
    main()
